import type { DataClass } from '../../catalog/dataclass.ts'
import { RemoteReads } from '../../postgres/reads/remote-reads.ts'
import { counter, RowNumbers } from '../../postgres/reads/remote-rows.ts'
import { RemoteSnapshot } from '../../postgres/reads/remote-snapshot.ts'
import type { RemoteCondition } from '../../query/plan/nodes/remote-query.ts'
import type { RowSet } from '../../row-set/row-set.ts'
import type { QueryContext } from '../../query/operators/query-context.ts'
import { QueryBudget } from '../../query/scan/query-budget.ts'
import { RestrictedSnapshot } from '../../data/restricted-snapshot.ts'
import type { Snapshot } from '../../data/snapshot.ts'
import type { Visible } from './entity-hooks.ts'
import { LanguageErrors } from './language-errors.ts'
import type { CodeSession } from './code-session.ts'

/** A read of the current state that has not been done yet. */
interface Pending {
  settle(): void
}

/** The state that code reads: one snapshot until the call writes, or until its code waits. */
export class Snapshots {
  /** Number of the snapshot: values read from an older one may be out of date. */
  version = 0
  readonly pending = new Set<Pending>()
  private open: Snapshot | undefined
  /** Restricted snapshots of one version, by the rights of the session. */
  private restrictedCache:
    | { readonly of: Snapshot; readonly version: number; readonly byRights: Map<string, Snapshot> }
    | undefined
  /** Reads from databases, by the snapshots that they belong to. */
  readonly reads = new WeakMap<Snapshot, RemoteReads>()
  private readonly nextNumber = counter()

  constructor(private readonly codeSession: CodeSession) {}

  /** Snapshot of the call, restricted by restrict events. @throws {LanguageErrors.NO_CALL} */
  get current(): Snapshot {
    const { unrestricted } = this
    const { hooks } = this.codeSession.options
    const { isUnrestricted, seesAll, restricting } = this.codeSession.scope.options!
    if (!hooks?.findVisible || isUnrestricted || seesAll) return unrestricted
    if (restricting) return restricting
    // Restrict events may find other entities after each write.
    if (this.restrictedCache?.of !== unrestricted || this.restrictedCache.version !== this.version)
      this.restrictedCache = { of: unrestricted, version: this.version, byRights: new Map() }
    const { byRights } = this.restrictedCache
    const { rightsKey } = this.codeSession.scope
    let snapshot = byRights.get(rightsKey)
    if (!snapshot) {
      snapshot = this.restrict(unrestricted, dataClass => hooks.findVisible!(dataClass, this.codeSession))
      byRights.set(rightsKey, snapshot)
    }
    return snapshot
  }

  /** A snapshot of the call without the entities that are not visible. */
  restrict(fullSnapshot: Snapshot, findVisible: (dataClass: DataClass) => Visible | undefined): Snapshot {
    const ofRemote = (dataClass: DataClass) => findVisible(dataClass) as readonly RemoteCondition[] | undefined
    const ofStore = (dataClass: DataClass) =>
      dataClass.place.isStore ? (findVisible(dataClass) as RowSet | undefined) : undefined
    return this.withDatabases(fullSnapshot, base => new RestrictedSnapshot(base, ofStore), ofRemote)
  }

  /** A snapshot whose remote dataclasses are read from their databases, for the rest of the stretch. */
  withDatabases(
    local: Snapshot,
    wrap: (snapshot: Snapshot) => Snapshot,
    findVisible?: (dataClass: DataClass) => readonly RemoteCondition[] | undefined,
  ): Snapshot {
    const { remote, store } = this.codeSession.options
    if (!remote) return wrap(local)
    const state = this.codeSession.scope.options!.state!
    state.numbers ??= new RowNumbers(this.nextNumber)
    const reads = new RemoteReads({
      tables: remote.tables,
      layouts: store.layouts,
      need: fetch => this.codeSession.writes.databaseChanges.fetch(fetch),
      user: () => this.codeSession.writes.databaseChanges.user,
      knowsCounts: () => !this.codeSession.writes.databaseChanges.hasBegun,
      numbers: state.numbers,
      ...(findVisible && { visible: findVisible }),
    })
    const snapshot = wrap(new RemoteSnapshot(local, reads))
    this.reads.set(snapshot, reads)
    reads.context = this.contextOf(snapshot)
    return snapshot
  }

  /** Snapshot of the call without restrictions. @throws {LanguageErrors.NO_CALL} */
  get unrestricted(): Snapshot {
    if (!this.codeSession.scope.options) throw LanguageErrors.NO_CALL()
    if (this.codeSession.writes.overlay) return this.codeSession.writes.overlay
    this.open ??= this.withDatabases(this.codeSession.options.store.snapshot(), snapshot => snapshot)
    const { open } = this
    const { eventRun: run } = this.codeSession.writes
    return run ? this.codeSession.writes.changesOf(run.dataClass).eventSnapshot(run, open) : open
  }

  /** Context for one query of the call. */
  get context(): QueryContext {
    return this.contextOf(this.current)
  }

  contextOf(snapshot: Snapshot): QueryContext {
    const budget = new QueryBudget({
      ...this.codeSession.limits,
      ...this.codeSession.scope.deadline,
      counter: this.codeSession.scope.options!.state!,
    })
    const remote = this.codeSession.options.remote && this.reads.get(snapshot)
    const context = { snapshot, budget, remote }
    if (remote) remote.context = context
    return context
  }

  /** Registers a read to be settled before the snapshot moves on. */
  wait(pending: Pending): void {
    this.pending.add(pending)
  }

  removePending(pending: Pending): void {
    this.pending.delete(pending)
  }

  settleAll(): void {
    for (const pending of this.pending) pending.settle()
  }

  freshSnapshot(): Snapshot {
    this.moveOn()
    return this.unrestricted
  }

  moveOn(): void {
    this.restrictedCache = undefined
    this.open?.release()
    this.open = undefined
    this.version++
  }

  rest(): void {
    this.pending.clear()
    if (!this.open) return
    this.moveOn()
    this.codeSession.options.store.releaseSnapshot()
  }
}
