import { ProtocolError } from '../errors.ts'
import { nextSlice } from '../hooks/calculate.ts'
import { HookedClasses } from '../hooks/hooked-classes.ts'
import { Hooks } from '../hooks/hooks.ts'
import { attachCalculated } from '../hooks/live-values.ts'
import { saveElements } from '../hooks/save-elements.ts'
import { type AuthorClass, describeClass } from '../language/describe-classes.ts'
import { type CallOptions, Language } from '../language/language.ts'
import { planTask } from '../pool/plan-task.ts'
import { isUnrestricted } from '../pool/tasks.ts'
import type { QueryLimits } from '../query/query-limits.ts'
import { prepareSaved } from '../query/serialise/answer-saved.ts'
import type { Access } from '../permission/views.ts'
import { openReadStore, type ReadStoreOptions } from '../memory/open-read-store.ts'
import { type LinkEnd, WriterLink } from '../write/writer-link.ts'
import { SetCounts } from '../entity-set/set-counts.ts'
import { type SessionSurroundings, TaskSession, TOKEN_PREFIX } from '../language/session.ts'
import type { Environment } from '../storage/environment.ts'
import { runCall } from './run-call.ts'
import type { CalculateTask, FunctionOutcome, FunctionTask, SaveTask, TaskOutcome } from './tasks.ts'

function sessionSurroundings(environment: Environment): Omit<SessionSurroundings, 'expand'> {
  return {
    hasToken(hash) {
      environment.root.resetReadTxn()
      return environment.records.get(TOKEN_PREFIX + hash) !== undefined
    },
    countSets(session) {
      environment.root.resetReadTxn()
      return new SetCounts(environment).of(session)
    },
  }
}

/** What a function thread works with. */
export interface FunctionScope {
  readonly language: Language
  readonly limits: QueryLimits
}

interface RunnerOptions {
  readonly open: { readonly store: ReadStoreOptions; readonly limits: QueryLimits }
  readonly classes: readonly AuthorClass[]
  connectWriter(end: LinkEnd): void
  /** Is told what goes wrong when no client can be told any more. */
  onFault(text: string): void
}

/** Does tasks, each on the newest state of the data, and turns whatever they throw into an outcome. */
export class TaskRunner {
  private readonly scope: FunctionScope
  private readonly surroundings: Omit<SessionSurroundings, 'expand'>
  private readonly hooks: Hooks

  constructor({ open, classes, connectWriter, onFault }: RunnerOptions) {
    const { store, limits } = open
    const descriptors = classes.map(describeClass)
    this.hooks = new Hooks(new HookedClasses(descriptors), error => onFault(textOf(error)))
    const data = openReadStore(store)
    this.surroundings = sessionSurroundings(data.environment)
    const language = new Language({
      store: data,
      limits,
      classes,
      writer: new WriterLink(connectWriter),
      hooks: this.hooks,
    })
    attachCalculated(language, descriptors, this.hooks)
    this.scope = { language, limits }
  }

  run(task: FunctionTask, deadlineMs: number): FunctionOutcome {
    const { views } = this.scope.language
    const expand: SessionSurroundings['expand'] = rights => views.expand(accessOf(task), rights)
    const session = task.session && new TaskSession(task.session, { ...this.surroundings, expand })
    const call: CallOptions = {
      deadlineAt: Date.now() + deadlineMs,
      session,
      // Handlers, getters and events, which all else is made of, have rights of their own.
      access: task.kind === 'call' ? task.access : undefined,
      isUnrestricted: isOfServer(task),
    }
    const outcome = outcomeOf(() => this.scope.language.run(call, () => this.outcome(task)))
    try {
      const changes = session?.changes()
      return { ...outcome, examined: this.scope.language.examined, ...(changes && { session: changes }) }
    } catch (error) {
      const failed = outcomeOf(() => {
        throw error
      })
      return { ...failed, examined: this.scope.language.examined }
    }
  }

  private outcome(task: FunctionTask): TaskOutcome {
    const { language, limits } = this.scope
    switch (task.kind) {
      case 'call':
        return runCall(task, this.scope)
      case 'read': {
        const { views, options, context } = language
        return { body: planTask(task.task, { views, layouts: options.store.layouts, limits }, context).run().slice() }
      }
      case 'save':
        return this.save(task)
      case 'drop':
        return { dropped: language.drop(task.request) }
      case 'calculate':
        return this.calculate(task)
    }
  }

  private save({ request, output }: SaveTask): TaskOutcome {
    const { language, limits } = this.scope
    const { layouts } = language.options.store
    const { dataClass } = language.binding(request.dataClass)
    const { onFault } = this.hooks
    const view = language.views.of(request.access)
    const answer = output && prepareSaved(dataClass, output, { view, layouts, limits, onFault })
    return saveElements(request, language, this.hooks, saved => ({
      saved: answer ? answer(saved, language.snapshot) : saved,
    }))
  }

  private calculate({ dataClass: name, from }: CalculateTask): TaskOutcome {
    const { language } = this.scope
    const binding = language.binding(name)
    const { request, slice } = nextSlice(binding.dataClass, language.snapshot, from, rowId =>
      this.hooks.calculatedOrNull(binding.entity(rowId)),
    )
    language.putCalculated(request)
    return { calculated: slice }
  }
}

/** What no client asks for sees everything. */
function isOfServer(task: FunctionTask): boolean {
  if (task.kind === 'read') return isUnrestricted(task.task)
  return task.kind === 'calculate' || (task.kind === 'save' && task.request.trusted === true)
}

/** The rights of who asks. */
function accessOf(task: FunctionTask): Access | undefined {
  switch (task.kind) {
    case 'call':
      return task.access
    case 'read':
      return task.task.request.access
    case 'save':
    case 'drop':
      return task.request.access
    case 'calculate':
      return undefined
  }
}

function outcomeOf(work: () => TaskOutcome): TaskOutcome {
  try {
    return work()
  } catch (error) {
    return error instanceof ProtocolError ? { error: error.toData() } : outcomeOfThrown(error)
  }
}

/** It may choose its `httpStatus`, from 400 to 599. Source: protocol notes, 7.4; the status by our decision. */
function outcomeOfThrown(thrown: unknown): TaskOutcome {
  if (thrown instanceof Error) return { fault: { name: thrown.name, stack: String(thrown.stack) } }
  const { errCode, componentSignature, message, httpStatus } = (thrown ?? {}) as Record<string, unknown>
  if (typeof errCode !== 'number') return { fault: { name: `a thrown ${typeof thrown}`, stack: describe(thrown) } }
  const entry = {
    message: typeof message === 'string' ? message : '',
    componentSignature: typeof componentSignature === 'string' ? componentSignature : '',
    errCode,
  }
  return {
    error: { name: 'FUNCTIONS.THROWN', httpStatus: isErrorStatus(httpStatus) ? httpStatus : 500, entries: [entry] },
  }
}

const isErrorStatus = (status: unknown): status is number =>
  typeof status === 'number' && Number.isInteger(status) && status >= 400 && status < 600

const textOf = (thrown: unknown): string => (thrown instanceof Error ? String(thrown.stack) : describe(thrown))

function describe(thrown: unknown): string {
  try {
    return JSON.stringify(thrown) ?? String(thrown)
  } catch {
    return typeof thrown
  }
}
