import { type ErrorData, ProtocolError, errorWithoutKnownSecrets } from '../../base/errors.ts'
import { errorOfThrown } from '../../base/thrown-error.ts'
import { nextSlice } from '../hooks/calculate.ts'
import { HookedClasses } from '../hooks/hooked-classes.ts'
import { Hooks } from '../hooks/hooks.ts'
import { attachCalculated } from '../hooks/live-values.ts'
import { saveElements } from '../hooks/save-elements.ts'
import { type ClassFunction, ClassRegistry } from '../declare/class-registry.ts'
import { type AuthorClass, describeClass } from '../declare/describe-classes.ts'
import { SelectionBase } from '../data-api/entity-selection.ts'
import type { CallOptions, CallState } from '../data-api/call-scope.ts'
import { CodeSession } from '../data-api/code-session.ts'
import { RemoteLink } from '../../postgres/run/remote-link.ts'
import { planSelection } from '../../query/source/select.ts'
import type { DeleteResult } from '../../write/contract/requests.ts'
import { WriteErrors } from '../../write/contract/write-errors.ts'
import { planTask } from '../../query/tasks/task-kind.ts'
import type { TaskRegistry } from '../../query/tasks/task-kind.ts'
import { prepareSaved } from '../../write/answer/answer-saved.ts'
import type { Access } from '../../permission/views.ts'
import type { ReadStore } from '../../data/read-store.ts'
import { statusOf } from '../../write/contract/packed-result.ts'
import type { LinkEnd } from '../../write/contract/link-messages.ts'
import { receivedSave } from '../../write/contract/sent-save.ts'
import { LaterLink } from '../../write/client/later-link.ts'
import { WriterLink } from '../../write/client/writer-link.ts'
import { SetCounts } from '../../entity-set/set-counts.ts'
import { type SessionContext, TaskSession, TOKEN_PREFIX } from '../data-api/session.ts'
import type { RecordStore } from '../../data/record-store.ts'
import type { JsonBounds } from '../../base/json-bounds.ts'
import type { checkArguments } from './check-arguments.ts'
import { parseArguments } from './read-arguments.ts'
import { FunctionErrors } from '../declare/function-errors.ts'
import { inContext, type RunningCall } from '../declare/running-call.ts'
import { asCode, placeOfFault, runningCode } from '../declare/running-code.ts'
import { type CodeLogLine, faultOf } from './code-log.ts'
import type { ForgottenPromises } from './follow-calls.ts'
import type { Outbox } from './outbox.ts'
import { type Later, runCall } from './run-call.ts'
import type { Streaming } from './result-stream.ts'
import {
  type CalculateTask,
  type CallTask,
  type DropTask,
  type FunctionOutcome,
  type FunctionTask,
  jobOf,
  PHASE,
  type SaveTask,
  SERVING,
  STARTED_AT,
  type TaskOutcome,
  type ToFunctionThread,
} from './tasks.ts'
import type { WaitingCalls } from './waiting-calls.ts'
import { nameOf, WaitingTask, type Writing } from './waiting-task.ts'
import { writeResult } from './write-result.ts'

function sessionContext(store: RecordStore, sharesSessions: boolean): Omit<SessionContext, 'expand'> {
  return {
    hasToken(hash) {
      if (sharesSessions) return true
      store.refresh()
      return store.record(TOKEN_PREFIX + hash) !== undefined
    },
    countSets(session) {
      store.refresh()
      return new SetCounts(store).of(session)
    },
  }
}

interface RunnerOptions extends Omit<Extract<ToFunctionThread, { open: unknown }>['open'], 'store'> {
  readonly store: ReadStore
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly classes: readonly AuthorClass[]
  readonly registry: TaskRegistry
  readonly argumentBounds: JsonBounds
  /** Undefined if no function has declared parameters. */
  readonly checkArguments: typeof checkArguments | undefined
  /** Words of the thread, see `tasks.ts`. */
  readonly progress: Int32Array
  readonly waitingCalls: WaitingCalls
  readonly outbox: Outbox
  readonly forgotten: ForgottenPromises
}

type Finish = (outcome: TaskOutcome) => FunctionOutcome

/** Runs tasks, each on the latest state of the data, and turns whatever they throw into an outcome. */
export class CallRunner {
  private readonly codeSession: CodeSession
  private readonly sessionContext: Omit<SessionContext, 'expand'>
  private readonly hooks: Hooks
  private readonly functions: ClassRegistry
  /** Link to the writer for saves of clients, during which other calls run. */
  private readonly later: LaterLink

  constructor(private readonly options: RunnerOptions) {
    const { store, limits, classes, outbox } = options
    const connectWriter = (end: LinkEnd): void => outbox.connect(end, 'writer')
    const hasRemote = store.catalog.dataClasses.some(({ remote }) => remote)
    const descriptors = classes.map(describeClass)
    this.functions = new ClassRegistry(descriptors)
    this.hooks = new Hooks(new HookedClasses(descriptors), exception => outbox.log(lineOf(exception)))
    this.sessionContext = sessionContext(store.records, options.sharesSessions)
    this.codeSession = new CodeSession({
      store,
      limits,
      classes,
      writer: new WriterLink(connectWriter),
      needsUser: options.needsUser,
      now: options.now,
      remote: hasRemote ? new RemoteLink(end => outbox.connect(end, 'remote'), store.catalog) : undefined,
      hooks: this.hooks,
      onProgress: (job, progress) => outbox.post({ job, progress }),
    })
    this.later = new LaterLink(connectWriter, work => outbox.together(work))
    attachCalculated(this.codeSession, descriptors, this.hooks)
  }

  /** Runs the code of a task until it ends or waits. */
  run(task: FunctionTask, call: RunningCall): FunctionOutcome | WaitingTask {
    const { views } = this.codeSession
    const expand: SessionContext['expand'] = rights => views.expand(accessOf(task), rights)
    const session = task.session && new TaskSession(task.session, { ...this.sessionContext, expand })
    const state: CallState = { examined: 0 }
    const options: CallOptions = {
      session,
      traceparent: task.traceparent,
      // All other tasks run handlers, getters and events, which have their own rights.
      access: task.kind === 'call' ? task.access : undefined,
      isUnrestricted: isOfServer(task),
      time: call,
      state,
      job: jobOf(task),
    }
    const finish: Finish = outcome => {
      const finalOutcome = outcomeOf(() => ({ ...outcome, session: session?.changes() }))
      call.hasEnded = true
      call.alone.clear()
      return { ...finalOutcome, examined: state.examined }
    }
    return inContext({ call }, () => {
      const first = outcomeOf(() => {
        const args = task.kind === 'call' ? this.argumentsOf(task) : []
        this.beginCode()
        call.begin()
        return this.codeSession.scope.run(options, () => this.outcome(task, args, call))
      })
      if ('later' in first || 'stream' in first || 'begin' in first || call.events.length > 0) {
        const waitingTask = this.wait(task, call, options, finish)
        waitingTask.goOn(first)
        return waitingTask
      }
      return finish(this.withoutForgotten(first, task, call))
    })
  }

  /** The deadline begins only now, when the client's input has been read. */
  private beginCode(): void {
    const { progress } = this.options
    Atomics.store(progress, STARTED_AT, Date.now() | 0)
    Atomics.store(progress, PHASE, SERVING)
  }

  /** A task whose code waits, or whose result is a stream. */
  private wait(task: FunctionTask, call: RunningCall, options: CallOptions, finish: Finish): WaitingTask {
    const { outbox, waitingCalls } = this.options
    const run = <T>(work: () => T): T => this.codeSession.scope.run(options, work)
    return new WaitingTask(task, call, {
      run,
      writeResult: result =>
        outcomeOf(() => run(() => writeResult(withoutDeleted(result), task as CallTask, this.codeSession))),
      complete: work => outcomeOf(() => run(work)),
      failureOf: exception =>
        outcomeOf(() => {
          if (!call.isReason(exception)) return failedCode(exception)
          // A call that has exceeded its deadline has ended by then.
          throw FunctionErrors.CALLER_GONE(nameOf(task))
        }),
      check: outcome => this.withoutForgotten(outcome, task, call),
      finish,
      onFault: (exception, place) => outbox.log({ ...lineOf(exception), ...(place && { place }) }),
      onHead: head => outbox.post({ call: call.id, head }),
      onChunk: chunk => outbox.chunk(call, chunk),
      onEnd: outcome => waitingCalls.end(call, outcome),
    })
  }

  /** The outcome, or an error if a call has begun something that it does not wait for. */
  private withoutForgotten(outcome: TaskOutcome, task: FunctionTask, call: RunningCall): TaskOutcome {
    if (call.alone.size === 0 || task.kind !== 'call' || 'fault' in outcome || 'error' in outcome) return outcome
    const trace = this.options.forgotten.find(call)
    if (trace === undefined) return outcome
    const error = FunctionErrors.FORGOTTEN_PROMISE(`the function ${task.fullName}`)
    const place = task.inner ?? (this.functionOf(task) ?? this.functions.jobs.get(task.fullName))?.place
    const fault = { ...faultOf(error), stack: `${error.message}\n${trace}` }
    this.options.outbox.log({ ...lineOf(error), place, error: fault, trace: call.trace, job: task.job })
    return { error: error.toData() }
  }

  /** Sends the saves that clients' tasks have prepared to the writer. */
  sendWrites(): void {
    this.later.send()
  }

  /** Called when code that had waited waits again or ends. */
  endStretch(): void {
    this.codeSession.scope.endStretch()
  }

  /** Arguments that fit the declaration of the function. */
  private argumentsOf(task: CallTask): readonly unknown[] {
    const { sets, access } = task
    const check = this.options.checkArguments
    const classFunction = check && this.functionOf(task)
    const values = parseArguments(task, this.options.argumentBounds, classFunction?.parameters)
    return classFunction ? check(classFunction, values, sets, this.codeSession.views.of(access)) : values
  }

  private functionOf({ target, read, function: name }: CallTask): ClassFunction | undefined {
    return this.functions.byTarget(target, read?.dataClass, name)
  }

  /** Tasks are declared in `engine/author/run/tasks.ts`. */
  private outcome(
    task: FunctionTask,
    args: readonly unknown[],
    call: RunningCall,
  ): TaskOutcome | Later | Streaming | Writing {
    const { codeSession } = this
    const { limits } = codeSession
    switch (task.kind) {
      case 'call':
        return runCall(task, args, this.codeSession, call)
      case 'read': {
        const { views, queries, options } = codeSession
        const { context } = codeSession.snapshots
        const scope = { views, layouts: options.store.layouts, limits, queries, registry: this.options.registry }
        // Copied into a separate buffer that can be transferred; `slice` of a Buffer does not copy.
        return { body: new Uint8Array(planTask(task.task, scope, context).run()) }
      }
      case 'save':
        return this.save(task)
      case 'drop':
        return { dropped: this.drop(task) }
      case 'calculate':
        return this.calculate(task)
    }
  }

  private drop({ request, read }: DropTask): DeleteResult {
    const { codeSession } = this
    if (!read) return codeSession.writes.drop(request)
    const { queries } = codeSession
    const { context } = codeSession.snapshots
    const view = codeSession.views.of(read.access)
    const selection = planSelection(read, view, queries, context)
    const rowIds = selection.finder.rowIds(selection, view, context)
    if (rowIds.length === 0 && request.ifMatch) throw WriteErrors.NO_VERSION(request.dataClass)
    return rowIds.length === 0 ? { kind: 'delete', deleted: 0 } : codeSession.writes.drop({ ...request, rowIds })
  }

  private save({ request: sentRequest, output }: SaveTask): TaskOutcome | Writing {
    const request = receivedSave(sentRequest)
    const { codeSession } = this
    const { limits } = codeSession
    const { layouts } = codeSession.options.store
    const { dataClass } = codeSession.binding(request.dataClass)
    const { onFault } = this.hooks
    const view = codeSession.views.of(request.access)
    const answer =
      output &&
      prepareSaved(
        dataClass,
        { mode: request.mode, atomic: request.atomic, output },
        { view, layouts, limits, onFault },
      )
    const saving = saveElements(
      request,
      this.options.saveLimits,
      codeSession,
      this.hooks,
      (result): TaskOutcome => ({
        saved: answer
          ? { status: statusOf(result), body: new Uint8Array(answer(result, codeSession.snapshots.current)) }
          : result,
      }),
    )
    if (!('write' in saving)) return saving
    return {
      begin: onAnswer => this.later.write(saving.write, onAnswer),
      complete: result => {
        if (result instanceof ProtocolError) throw result
        return saving.complete(result)
      },
    }
  }

  private calculate({ dataClass: name, from }: CalculateTask): TaskOutcome {
    const { codeSession } = this
    const binding = codeSession.binding(name)
    const { request, slice } = nextSlice(binding.dataClass, codeSession.snapshots.current, from, rowId =>
      this.hooks.calculatedOrNull(binding.entity(rowId)),
    )
    codeSession.writes.putCalculated(request)
    return { calculated: slice }
  }
}

/** A result without entities that have been deleted while the function waited. */
const withoutDeleted = (result: unknown): unknown =>
  result instanceof SelectionBase ? SelectionBase.withoutDeleted(result) : result

/** True for tasks of the server itself, to which restrict events do not apply. */
const isOfServer = (task: FunctionTask): boolean =>
  task.kind === 'calculate' ||
  (task.kind === 'call' && task.job !== undefined) ||
  (task.kind === 'save' && task.request.trusted === true)

/** Rights of the caller. */
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
    default:
      return task satisfies never
  }
}

function outcomeOf<Outcome>(work: () => Outcome): Outcome | TaskOutcome {
  try {
    return work()
  } catch (exception) {
    return failedOutcome(exception)
  }
}

function failedOutcome(exception: unknown): TaskOutcome {
  try {
    return asCode(() => outcomeOfThrown(exception))
  } catch {
    // The thrown value is a proxy or has an accessor that throws.
    return { fault: UNREADABLE, place: placeOfFault(exception) }
  }
}

/** Failure of code that had waited, treated like a failure of code whose place is known. */
function failedCode(exception: unknown): TaskOutcome {
  const outcome = failedOutcome(exception)
  return 'error' in outcome ? { ...outcome, error: errorWithoutKnownSecrets(outcome.error) } : outcome
}

function outcomeOfThrown(exception: unknown): TaskOutcome {
  if (exception instanceof ProtocolError) {
    const error = exception.toData()
    const place = placeOfFault(exception)
    // Plugin code may have passed a secret to the data API.
    const answer = { error: place ? errorWithoutKnownSecrets(error) : error }
    return isMisuse(error) ? { ...answer, fault: faultOf(exception), place: place ?? runningCode() } : answer
  }
  const error = errorOfThrown(exception)
  return error ? { error } : { fault: faultOf(exception), place: placeOfFault(exception) ?? runningCode() }
}

const isMisuse = ({ name, httpStatus }: ErrorData): boolean => name.startsWith('LANGUAGE.') && httpStatus === 500

const UNREADABLE = faultOf(new TypeError('what was thrown cannot be read: it throws an error itself'))

/** A log line about failed code that cannot be reported to a client. */
export const lineOf = (exception: unknown): CodeLogLine => ({
  level: 'error',
  text: 'code of a plugin failed',
  place: placeOfFault(exception) ?? runningCode(),
  error: faultOf(exception),
})
