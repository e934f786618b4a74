import type { DataClass } from '../../../catalog/dataclass.ts'
import type { LockHolder } from '../../../caller/lock-holder.ts'
import { RecordedSnapshot } from '../../../data/recorded-snapshot.ts'
import type { Snapshot } from '../../../data/snapshot.ts'
import type {
  DeleteRequest,
  DeleteResult,
  LockResult,
  SaveRequest,
  SaveResult,
} from '../../../write/contract/requests.ts'
import type { EventRun } from '../event-run.ts'
import type { CodeSession } from '../code-session.ts'
import type { Changes } from './changes.ts'

/** Changes of entities of this store, made by the writer thread, which checks whether what events have read has changed. */
export class StoreChanges implements Changes {
  readonly mayEventsWrite = true
  readonly mayGoOn = true
  readonly hasBegun = false

  constructor(private readonly codeSession: CodeSession) {}

  save(request: SaveRequest): SaveResult {
    return this.codeSession.writes.writeToStore(writer => writer.write(request))
  }

  drop(request: Omit<DeleteRequest, 'kind'>): DeleteResult {
    return this.codeSession.writes.writeToStore(writer => writer.write({ kind: 'delete', ...request }))
  }

  lock({ name: dataClass }: DataClass, rowId: number, lock: boolean, holder: LockHolder): LockResult {
    return this.codeSession.writes.writeToStore(writer =>
      writer.write({ kind: 'lock', dataClass, rowId, lock, holder }),
    )
  }

  eventSnapshot(run: EventRun, open: Snapshot): Snapshot {
    if (!run.recorded) {
      run.recorded = new RecordedSnapshot(open)
      const { reads } = this.codeSession.snapshots
      const ofOpen = reads.get(open)
      if (ofOpen) reads.set(run.recorded, ofOpen)
    }
    return run.recorded
  }

  beside<T>(_dataClass: DataClass, _isAtomic: boolean, work: () => T): { readonly result: T } {
    return { result: work() }
  }

  alone(_dataClass: DataClass, _isAtomic: boolean, _runs: number, work: () => boolean, moment?: number): boolean {
    return this.codeSession.writes.transaction(work, moment)
  }

  afterChange(work: () => void): void {
    work()
  }
}
