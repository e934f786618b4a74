import { ProtocolError } from '../errors.ts'
import type { AuthorClass } from '../language/describe-classes.ts'
import { Language } from '../language/language.ts'
import type { QueryLimits } from '../query/query-limits.ts'
import { openReadStore, type ReadStoreOptions } from '../storage/open-read-store.ts'
import { type LinkEnd, WriterLink } from '../write/writer-link.ts'
import { SetCounts } from '../entity-set/set-counts.ts'
import { type SessionSurroundings, TaskSession, TOKEN_PREFIX } from '../language/session.ts'
import type { Environment } from '../storage/environment.ts'
import { runCall } from './run-call.ts'
import type { FunctionOutcome, FunctionTask, TaskOutcome } from './tasks.ts'

function sessionSurroundings(environment: Environment): SessionSurroundings {
  return {
    hasToken(hash) {
      environment.root.resetReadTxn()
      return environment.records.get(TOKEN_PREFIX + hash) !== undefined
    },
    countSets(session) {
      environment.root.resetReadTxn()
      return new SetCounts(environment).of(session)
    },
    expand: ({ privileges }) => privileges,
  }
}

/** What a function thread works with. */
export interface FunctionScope {
  readonly language: Language
  readonly limits: QueryLimits
}

/** Does tasks, each on the newest state of the data, and turns whatever they throw into an outcome. */
export class TaskRunner {
  private readonly scope: FunctionScope
  private readonly surroundings: SessionSurroundings

  constructor(
    { store, limits }: { store: ReadStoreOptions; limits: QueryLimits },
    classes: readonly AuthorClass[],
    connectWriter: (end: LinkEnd) => void,
  ) {
    const data = openReadStore(store)
    this.surroundings = sessionSurroundings(data.environment)
    const language = new Language({
      store: data,
      limits,
      classes,
      writer: new WriterLink(connectWriter),
    })
    this.scope = { language, limits }
  }

  run(task: FunctionTask, deadlineMs: number): FunctionOutcome {
    const session = task.session && new TaskSession(task.session, this.surroundings)
    const outcome = outcomeOf(() =>
      this.scope.language.run({ deadlineAt: Date.now() + deadlineMs, session }, () => runCall(task, this.scope)),
    )
    try {
      const changes = session?.changes()
      return changes ? { ...outcome, session: changes } : outcome
    } catch (error) {
      return outcomeOf(() => {
        throw error
      })
    }
  }
}

function outcomeOf(work: () => TaskOutcome): TaskOutcome {
  try {
    return work()
  } catch (error) {
    return error instanceof ProtocolError ? { error: error.toData() } : outcomeOfThrown(error)
  }
}

/** Source: protocol notes, 7.4. */
function outcomeOfThrown(thrown: unknown): TaskOutcome {
  if (thrown instanceof Error) return { fault: { name: thrown.name, stack: String(thrown.stack) } }
  const { errCode, componentSignature, message } = (thrown ?? {}) as Record<string, unknown>
  if (typeof errCode !== 'number') return { fault: { name: `a thrown ${typeof thrown}`, stack: describe(thrown) } }
  const entry = {
    message: typeof message === 'string' ? message : '',
    componentSignature: typeof componentSignature === 'string' ? componentSignature : '',
    errCode,
  }
  return { error: { name: 'FUNCTIONS.THROWN', httpStatus: 500, entries: [entry] } }
}

function describe(thrown: unknown): string {
  try {
    return JSON.stringify(thrown) ?? String(thrown)
  } catch {
    return typeof thrown
  }
}
