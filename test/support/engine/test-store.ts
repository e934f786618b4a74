import type { Test } from 'tap'
import { checkModel } from '../../../engine/catalog/check-model.ts'
import type { DataClass } from '../../../engine/catalog/dataclass.ts'
import type { ErrorData } from '../../../engine/base/errors.ts'
import { checkStore } from '../../../engine/storage/inspect/check-store.ts'
import { type Environment, openEnvironment } from '../../../engine/storage/environment.ts'
import { type PrepareOptions, prepareStore } from '../../../engine/storage/migration/prepare-store.ts'
import type { Schema } from '../../../engine/storage/stored-schema.ts'
import { RowView } from '../../../engine/row-format/row-view.ts'
import { LmdbWritable } from '../../../engine/storage/lmdb-writable.ts'
import { tableRows } from '../../../engine/storage/table-rows.ts'
import type {
  DeleteResult,
  SavedEntity,
  SaveRequest,
  SaveResult,
  WriteRequest,
} from '../../../engine/write/contract/requests.ts'
import { Writer, type WriterOptions } from '../../../engine/write/steps/writer.ts'

export const ISO = { dateOnlyFormat: 'iso' } as const
export const NOW = Date.UTC(2026, 0, 31, 10)

/** Attributes of every type and relations of every kind. */
export const model = {
  name: 'writer-test',
  dataClasses: {
    Company: {
      key: 'ID',
      attributes: {
        ID: { type: 'long', autoFill: 'increment' },
        name: { type: 'string', indexed: true, mandatory: true, minLength: 2, maxLength: 20 },
        code: { type: 'string', unique: true, pattern: '[A-Z]{2}[0-9]+' },
        note: { type: 'string', readOnly: true },
        secret: { type: 'string', scope: 'private' },
        label: { kind: 'alias', path: 'name' },
        score: { kind: 'calculated', type: 'number' },
        staff: { kind: 'relatedEntities', type: 'PersonSelection', inverseName: 'employer' },
      },
    },
    Person: {
      key: 'ID',
      unique: [
        ['name', 'rank'],
        ['born', 'big', 'tag'],
      ],
      attributes: {
        ID: { type: 'long', autoFill: 'increment' },
        name: { type: 'string', indexed: true },
        age: { type: 'byte', minValue: 0, maxValue: 120 },
        rank: { type: 'word' },
        big: { type: 'long64', indexed: true },
        height: { type: 'number', indexed: true },
        active: { type: 'bool' },
        born: { type: 'date', simpleDate: true, indexed: true },
        seen: { type: 'date' },
        lap: { type: 'duration' },
        tag: { type: 'uuid' },
        extra: { type: 'object' },
        photo: { type: 'image' },
        cv: { type: 'blob' },
        employerID: { type: 'long' },
        employer: { kind: 'relatedEntity', type: 'Company', foreignKey: 'employerID', inverseName: 'staff' },
        employerName: { kind: 'alias', path: 'employer.name' },
        managerID: { type: 'long' },
        manager: {
          kind: 'relatedEntity',
          type: 'Person',
          foreignKey: 'managerID',
          inverseName: 'reports',
          onDelete: 'setNull',
        },
        reports: { kind: 'relatedEntities', type: 'PersonSelection', inverseName: 'manager' },
        nickCity: { type: 'string' },
        city: { kind: 'relatedEntity', type: 'City', foreignKey: 'nickCity' },
        pets: { kind: 'relatedEntities', type: 'PetSelection', inverseName: 'owner' },
      },
    },
    City: { key: 'name', attributes: { name: { type: 'string' }, population: { type: 'long' } } },
    Pet: {
      key: 'ID',
      unique: [['name', 'friendID']],
      attributes: {
        ID: { type: 'uuid', autoFill: 'uuid' },
        name: { type: 'string' },
        ownerID: { type: 'long', mandatory: true },
        owner: {
          kind: 'relatedEntity',
          type: 'Person',
          foreignKey: 'ownerID',
          inverseName: 'pets',
          onDelete: 'cascade',
        },
        friendID: { type: 'uuid' },
        friend: { kind: 'relatedEntity', type: 'Pet', foreignKey: 'friendID' },
      },
    },
  },
}

export interface TestStore extends Schema {
  environment: Environment
  writer: Writer
  save(dataClass: string, body: unknown, options?: Partial<SaveRequest>): SaveResult
  /** Error of a body that is refused as a whole. */
  refusal(dataClass: string, body: unknown): ErrorData
  /** Saves one entity. @returns its JSON, its `__STATUS` and its error codes */
  one(dataClass: string, body: unknown, options?: Partial<SaveRequest>): Answer
  delete(dataClass: string, rowIds: number[], options?: { atomic?: boolean }): DeleteResult
  /** Entities as they are stored, by row id. */
  all(dataClass: string): Record<string, unknown>[]
  dataClass(name: string): DataClass
  /** Problems that the check of the store finds. */
  problems(): string[]
  close(): Promise<void>
}

export interface Answer {
  // biome-ignore lint/suspicious/noExplicitAny: whatever is in the row
  entity: any
  codes: number[]
  messages: string[]
  status: number | undefined
  httpStatus: number | undefined
}

let uuids = 0

/** A store in a folder of the test, closed when the test ends at the latest. */
export function openTestStore(
  t: Test,
  options: Partial<Omit<PrepareOptions, 'model'>> & {
    model?: object
    path?: string
    writer?: Partial<WriterOptions>
  } = {},
): TestStore {
  const environment = openEnvironment({ path: options.path ?? t.testdir(), mapSizeBytes: 2 ** 30 })
  let closed: Promise<void> | undefined
  const close = (): Promise<void> => {
    closed ??= environment.close()
    return closed
  }
  t.teardown(close)
  const { catalog, layouts } = prepareStore({
    environment,
    wire: ISO,
    allowLoss: false,
    ...options,
    model: checkModel(options.model ?? model),
  })
  const writer = new Writer({
    store: new LmdbWritable(environment, { catalog, layouts }, options.owner),
    now: () => NOW,
    randomUuid: () => (++uuids).toString(16).toUpperCase().padStart(32, '0'),
    onInternalError: error => t.fail(String(error)),
    ...options.writer,
  })
  const dataClass = (name: string): DataClass => catalog.dataClassesByName.get(name)!
  const entity = (name: string, row: Uint8Array) => {
    const view = new RowView(layouts.get(dataClass(name))!, row)
    return JSON.parse(`{${view.buffer.toString('utf8', view.headStart)}}`)
  }
  const store: TestStore = {
    environment,
    catalog,
    layouts,
    writer,
    dataClass,
    save(name, body, extra = {}) {
      const result = writer.run([saveRequest(name, body, extra)])[0]!
      if (!('kind' in result)) throw new Error(result.entries[0]!.message)
      return result as SaveResult
    },
    refusal: (name, body) => writer.run([saveRequest(name, body)])[0] as ErrorData,
    one: (name, body, extra) => toAnswer(store.save(name, body, extra).entities[0]!, row => entity(name, row)),
    delete: (name, rowIds, { atomic = false } = {}) =>
      writer.run([{ kind: 'delete', dataClass: name, rowIds: Uint32Array.from(rowIds), atomic }])[0] as DeleteResult,
    all: name => [...tableRows(environment, dataClass(name).tableNumber)].map(({ bytes }) => entity(name, bytes)),
    problems: () => [...checkStore(environment, catalog, layouts)],
    close,
  }
  return store
}

export const saveRequest = (dataClass: string, body: unknown, extra: Partial<SaveRequest> = {}): WriteRequest => ({
  kind: 'save',
  dataClass,
  body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
  mode: 'update',
  atomic: false,
  ...extra,
})

export const codesOf = (error: ErrorData | undefined): number[] => (error?.entries ?? []).map(entry => entry.errCode)

function toAnswer({ row, failure }: SavedEntity, read: (row: Uint8Array) => unknown): Answer {
  return {
    entity: row && read(row),
    codes: codesOf(failure?.error),
    messages: (failure?.error.entries ?? []).map(entry => entry.message),
    status: failure?.status.status,
    httpStatus: failure?.error.httpStatus,
  }
}
