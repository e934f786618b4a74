import { ProtocolError } from '../errors.ts'
import type { AuthorClass } from '../language/describe-classes.ts'
import { Language } from '../language/language.ts'
import type { QueryLimits } from '../query/query-limits.ts'
import { openReadStore, type ReadStoreOptions } from '../storage/open-read-store.ts'
import { type LinkEnd, WriterLink } from '../write/writer-link.ts'
import { runCall } from './run-call.ts'
import type { FunctionOutcome, FunctionTask } from './tasks.ts'

/** What a function thread works with. */
export interface FunctionScope {
  readonly language: Language
  readonly limits: QueryLimits
}

/** Does tasks, each on the newest state of the data, and turns whatever they throw into an outcome. */
export class TaskRunner {
  private readonly scope: FunctionScope

  constructor(
    { store, limits }: { store: ReadStoreOptions; limits: QueryLimits },
    classes: readonly AuthorClass[],
    connectWriter: (end: LinkEnd) => void,
  ) {
    const language = new Language({
      store: openReadStore(store),
      limits,
      classes,
      writer: new WriterLink(connectWriter),
    })
    this.scope = { language, limits }
  }

  run(task: FunctionTask, deadlineMs: number): FunctionOutcome {
    try {
      return this.scope.language.run({ deadlineAt: Date.now() + deadlineMs }, () => runCall(task, this.scope))
    } catch (error) {
      return error instanceof ProtocolError ? { error: error.toData() } : outcomeOfThrown(error)
    }
  }
}

/** Source: protocol notes, 7.4. */
function outcomeOfThrown(thrown: unknown): FunctionOutcome {
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
