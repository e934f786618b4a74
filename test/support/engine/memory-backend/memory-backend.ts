import { randomUUID } from 'node:crypto'
import type { Backend, GivenBackend } from '../../../../engine/backend/backend.ts'
import { ProtocolError } from '../../../../engine/base/errors.ts'
import { IN_STORE } from '../../../../engine/catalog/place.ts'
import { drive } from '../../../../engine/data/suspended.ts'
import { isShared } from '../../../../engine/entity-set/members.ts'
import type { ReadRequest } from '../../../../engine/query/contract/request.ts'
import { rowIdsOf } from '../../../../engine/query/tasks/row-ids-task.ts'
import { planTask } from '../../../../engine/query/tasks/task-kind.ts'
import type { WriteRequest, WriteResultOf } from '../../../../engine/write/contract/requests.ts'
import { WriteErrors } from '../../../../engine/write/contract/write-errors.ts'
import { Writer } from '../../../../engine/write/steps/writer.ts'
import { MemoryData } from './memory-data.ts'
import { MemoryTable } from './memory-tables.ts'
import { MemoryTransaction } from './memory-transaction.ts'

/** Entities of some dataclasses in maps of the kernel thread, with the rules of those in the store. */
export const memoryBackend = (...dataClasses: string[]): GivenBackend => ({
  dataClasses,
  place: { ...IN_STORE, isStore: false },
  open: surroundings => openMemory(dataClasses, surroundings),
})

function openMemory(names: readonly string[], { data, scope, limits }: Parameters<GivenBackend['open']>[0]): Backend {
  const { catalog, layouts } = data
  const classes = names.map(name => catalog.dataClassesByName.get(name)!)
  const transaction = new MemoryTransaction(
    new Map(classes.map(each => [each, new MemoryTable(layouts.get(each)!)])),
    data,
  )
  const writer = new Writer({
    store: { catalog, transaction: () => transaction },
    now: Date.now,
    randomUuid: () => randomUUID().replaceAll('-', '').toUpperCase(),
    limits,
    onInternalError: error => {
      throw error
    },
  })

  const run: Backend['run'] = task => {
    const tables = new MemoryData(() => transaction.tables)
    const attempt = (): Uint8Array =>
      data.read(local => {
        const bytes = planTask(task, scope, tables.contextOf(local, scope.limits)).run()
        return isShared(bytes) ? bytes : bytes.slice()
      })
    return drive(attempt, needs =>
      needs.kind === 'rows' ? (needs.fetch as () => Promise<void>)().then(() => attempt) : undefined,
    )
  }

  const rowIdsIn = async (request: ReadRequest, of: 'page' | 'selection'): Promise<Uint32Array> =>
    rowIdsOf((await run({ kind: 'rowIds', request, args: { of } })) as Uint8Array)

  /** @throws {ProtocolError} the request as a whole failed */
  const write = <Request extends WriteRequest>(request: Request): WriteResultOf<Request> => {
    const local = data.snapshot()
    transaction.local = local
    try {
      const [outcome] = writer.run([request])
      if ('kind' in outcome!) return outcome as WriteResultOf<Request>
      throw new ProtocolError(outcome!)
    } finally {
      local.release()
      data.releaseSnapshot()
    }
  }

  return {
    run,
    save: async request => write(request),
    async delete({ read, ...options }) {
      const { dataClass, access } = read
      const rowIds = await rowIdsIn(read, 'selection')
      if (rowIds.length === 0 && options.ifMatch) throw WriteErrors.NO_VERSION(dataClass)
      return { ...write({ kind: 'delete', dataClass, access, rowIds, ...options }), selected: rowIds.length }
    },
    async lock({ read, lock, holder }) {
      const [rowId] = await rowIdsIn(read, 'page')
      return write({ kind: 'lock', dataClass: read.dataClass, rowId: rowId!, lock, holder })
    },
    listLocks: async limit => write({ kind: 'listLocks', limit }),
    async freeLocks(owner) {
      write({ kind: 'freeLocks', owner })
    },
    async readBytes({ read, attribute, start, end }) {
      const [rowId] = await rowIdsIn(read, 'page')
      const { rows, binaries } = transaction.tables.get(catalog.dataClassesByName.get(read.dataClass)!)!
      const { key, stamp, version } = rows.get(rowId!)!
      const { bytes, size } = binaries.get(`${rowId} ${attribute}`) ?? {}
      if (!bytes) return { key, value: undefined }
      return { key, value: { bytes: bytes.subarray(start, end), size: size!, stamp, version } }
    },
    warmUp() {},
    close: async () => {},
  }
}
