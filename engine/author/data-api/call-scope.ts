import type { Attribute } from '../../catalog/attribute.ts'
import type { DataClass } from '../../catalog/dataclass.ts'
import { ProtocolError } from '../../base/errors.ts'
import type { RowNumbers } from '../../postgres/reads/remote-rows.ts'
import type { BudgetLimits, RowCounter } from '../../query/scan/query-budget.ts'
import type { Snapshot } from '../../data/snapshot.ts'
import type { View } from '../../catalog/view.ts'
import { PermissionErrors } from '../../permission/permission-errors.ts'
import type { Resource } from '../../permission/roles.ts'
import type { Access } from '../../permission/views.ts'
import type { SaveRequest } from '../../write/contract/requests.ts'
import { isThenable } from '../../base/promised.ts'
import type { CallRequest, CallSession } from '../declare/author-types.ts'
import { codeContext, inContext } from '../declare/running-call.ts'
import { UsageError } from '../declare/usage-error.ts'
import type { TaskSession } from './session.ts'
import { setCurrent } from './data-store.ts'
import { LanguageErrors } from './language-errors.ts'
import { type JobInfo, jobProgress } from './jobs.ts'
import { NoSession } from './no-session.ts'
import { type WaitingScope, waitingScope } from './waiting-scope.ts'
import type { CodeSession } from './code-session.ts'

export interface CallOptions {
  /**
   * Time limit of the call: queries end at `deadlineAt`, in milliseconds since 1970, with a message that names `deadlineMs`. Code that
   * computes is stopped from outside.
   */
  readonly time?: { readonly deadlineAt: number; readonly deadlineMs: number }
  /** State of the call; created by the outermost call unless given. */
  readonly state?: CallState
  /** False in the middle of a read, as in a getter or a query handler: saves and drops are refused. */
  readonly canWrite?: boolean
  /** True for work of the server itself: restrict events do not apply. */
  readonly isUnrestricted?: boolean
  /** True for events and unrestricted getters: restrict events do not apply to what they read. */
  readonly seesAll?: boolean
  /** Snapshot of a restrict event while it runs. */
  readonly restricting?: Snapshot
  /** Undefined for work of the server itself. */
  readonly session?: TaskSession | undefined
  /** `traceparent` of the request; empty or undefined without a valid one. */
  readonly traceparent?: string | undefined
  /** Rights that apply. Undefined: the rights of the code itself, which may do everything. */
  readonly access?: Access | undefined
  /** The job that the call is an attempt of. */
  readonly job?: JobInfo | undefined
}

/** State of a call until its end, shared by its parts. */
export interface CallState extends RowCounter {
  /** Session of a call without a request, made on first use. */
  noSession?: NoSession
  /** Row ids of the entities of remote dataclasses. */
  numbers?: RowNumbers
}

const TRANSACTION_TIMEOUT_MS = 2_000

/** The code that runs: its call, and the rights that apply to it. */
export class CallScope {
  /** Options of the code that runs, unless it has waited. */
  private runningOptions: CallOptions | undefined
  /** Cached rights of the last promotion. */
  private raised: { from: Access; privileges: readonly string[]; access: Access } | undefined

  constructor(private readonly codeSession: CodeSession) {}

  /**
   * Runs `work`, in which `ds` belongs to this code session. Inside another call it shares that call's snapshot.
   * @throws what `work` throws
   */
  run<T>(call: CallOptions, work: () => T): T {
    const { runningOptions: outerOptions, options: outer } = this
    const { codeSession } = this
    const options = { state: { examined: 0 }, ...outer, ...call }
    const before = setCurrent(codeSession)
    this.runningOptions = options
    try {
      return inContext({ data: { codeSession, options } satisfies WaitingScope }, work)
    } finally {
      this.runningOptions = outerOptions
      setCurrent(before)
      if (!outer) this.codeSession.snapshots.rest()
    }
  }

  /** Called when code that has waited waits again or ends. */
  endStretch(): void {
    if (!this.runningOptions) this.codeSession.snapshots.rest()
  }

  /** Options of the code that runs, or that goes on after it has waited. */
  get options(): CallOptions | undefined {
    if (this.runningOptions) return this.runningOptions
    const scope = waitingScope()
    return scope?.codeSession === this.codeSession ? scope.options : undefined
  }

  /** Key that differs for different rights and users of the session. */
  get rightsKey(): string {
    return this.options?.session?.rightsKey ?? ''
  }

  /** Session of the call; an empty one without a request. @throws {LanguageErrors.NO_CALL} */
  get session(): CallSession {
    if (!this.options) throw LanguageErrors.NO_CALL()
    const { session, isUnrestricted = false, state } = this.options
    if (session) return session
    state!.noSession ??= new NoSession(isUnrestricted)
    return state!.noSession
  }

  /** Request of the call; an empty one without a request. @throws {LanguageErrors.NO_CALL} */
  get request(): CallRequest {
    if (!this.options) throw LanguageErrors.NO_CALL()
    const { traceparent = '', job } = this.options
    const { onProgress } = this.codeSession.options
    return {
      traceparent,
      job: job && {
        id: job.id,
        attempt: job.attempt,
        ...(job.key !== undefined && { key: job.key }),
        progress: value => onProgress?.(job.id, jobProgress(value)),
      },
      get signal() {
        return codeContext()?.call?.signal ?? NEVER_ABORTED
      },
    }
  }

  /** View of the running code. */
  get view(): View {
    return this.codeSession.views.of(this.access, 'code')
  }

  /**
   * Reads names and texts of plugin code in the view of the running code.
   * @throws {UsageError} they cannot be used. The error is the same for a name that does not exist and one that is hidden from the caller,
   * who may have sent it. Its cause, for the log, tells them apart.
   */
  reading<T>(read: (view: View) => T): T {
    try {
      return read(this.view)
    } catch (error) {
      if (!isRefusal(error)) throw error
      throw new UsageError(error.message, this.isHidden(read) ? PermissionErrors.READ() : error)
    }
  }

  /** True if names and texts could be used with the rights of the code itself. */
  private isHidden(read: (view: View) => unknown): boolean {
    if (!this.hasCallerRights) return false
    try {
      read(this.codeSession.views.of(undefined, 'code'))
      return true
    } catch {
      return false
    }
  }

  /** True if the rights of the running code are limited to those of the caller. */
  get hasCallerRights(): boolean {
    return this.options?.access !== undefined
  }

  /** True if an attribute does not exist for the running code. */
  hides(attribute: Attribute): boolean {
    return this.hasCallerRights && !this.view.shows(attribute)
  }

  /** @throws {PermissionErrors.READ} entities of the dataclass may not be read */
  demandRead(dataClass: DataClass): void {
    if (this.hasCallerRights && !this.view.shows(dataClass)) throw PermissionErrors.READ()
  }

  /** Runs `work` with the rights of the code itself. */
  withOwnRights<T>(work: () => T): T {
    return this.hasCallerRights ? this.run({ access: undefined }, work) : work()
  }

  /** Runs events with the rights of the code itself. They see entities that restrict events hide from the caller. */
  asEvent<T>(work: () => T): T {
    return this.hasCallerRights ? this.run({ access: undefined, seesAll: true }, work) : this.seeingAll(work)
  }

  /** Runs `work`, which sees what restrict events hide from the caller. */
  seeingAll<T>(work: () => T): T {
    const isRestricted = this.codeSession.options.hooks?.findVisible !== undefined && !this.options?.seesAll
    return isRestricted ? this.run({ seesAll: true }, work) : work()
  }

  /** Runs `work` with the privileges to which `roles.json` promotes a function while it runs. Source: protocol notes, 8.4. */
  promoting<T>(resources: readonly Resource[], work: () => T): T {
    const { access, session } = this.options ?? {}
    if (!access || !session) return work()
    const promotions = this.codeSession.views.promotedBy(resources, access).map(privilege => session.promote(privilege))
    const demote = () => {
      for (const promotion of promotions) session.demote(promotion)
    }
    if (promotions.length === 0) return work()
    let isLater = false
    try {
      const result = work()
      isLater = isThenable(result)
      return isLater ? (endingWith(result as PromiseLike<unknown>, demote) as T) : result
    } finally {
      if (!isLater) demote()
    }
  }

  /** Rights of the caller with the current promotions. */
  get access(): Access | undefined {
    const { access, session } = this.options ?? {}
    if (!access || !session || session.promotedPrivileges.length === 0) return access
    const { promotedPrivileges: privileges } = session
    if (this.raised?.from !== access || this.raised.privileges !== privileges) {
      this.raised = { from: access, privileges, access: this.codeSession.views.promoted(access, privileges) }
    }
    return this.raised.access
  }

  /** Rights of the running code, for the writer. */
  get rights(): Pick<SaveRequest, 'access' | 'owner'> {
    return { access: this.access, owner: this.options?.session?.id }
  }

  /** Name of the user of the call; empty for a guest and for the server itself. */
  get userName(): string {
    return this.options?.session?.userName ?? ''
  }

  get deadline(): Pick<BudgetLimits, 'deadlineAt' | 'timeoutMs'> {
    const { time } = this.options ?? {}
    return time ? { deadlineAt: time.deadlineAt, timeoutMs: time.deadlineMs } : {}
  }

  timeLeft(): number {
    const deadlineAt = this.options?.time?.deadlineAt
    // The process is being debugged, so the call has no deadline.
    if (deadlineAt === Number.POSITIVE_INFINITY) return deadlineAt
    const most = this.codeSession.options.transactionTimeoutMs ?? TRANSACTION_TIMEOUT_MS
    return Math.max(1, Math.min(most, (deadlineAt ?? Number.POSITIVE_INFINITY) - Date.now()))
  }
}

/** True for the error of a text that cannot be used, as opposed to work that took too long. */
const isRefusal = (error: unknown): error is ProtocolError => error instanceof ProtocolError && error.httpStatus < 500

const NEVER_ABORTED = new AbortController().signal

/** A promise for the same result that is settled after `end`. */
async function endingWith(result: PromiseLike<unknown>, end: () => void): Promise<unknown> {
  try {
    return await result
  } finally {
    end()
  }
}
