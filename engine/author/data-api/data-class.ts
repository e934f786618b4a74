import { ProtocolError } from '../../base/errors.ts'
import { Rows } from '../../query/contract/rows.ts'
import { finderOf } from '../../query/source/select.ts'
import { RowSet } from '../../row-set/row-set.ts'
import { convertKey } from '../../write/value/convert.ts'
import { BINDING, type Binding } from './binding.ts'
import type { DataClassInfo } from '../declare/author-types.ts'
import type { EntityBase } from './entity.ts'
import { internals } from './entity-internals.ts'
import type { SelectionBase } from './entity-selection.ts'
import { queryTexts } from './query-values.ts'
import { saveEntities } from './save-entities.ts'
import { toPlain } from './values.ts'

const EVERYTHING = { predicate: undefined, orderBy: [] }

export class DataClassBase {
  declare readonly [BINDING]: Binding

  query(text: string, ...values: unknown[]): SelectionBase {
    const binding = this[BINDING]
    return binding.selection({
      from: this.#all(),
      query: binding.codeSession.prepare(binding.dataClass, queryTexts(text, values)),
    })
  }

  get(key: unknown): EntityBase | null {
    const { codeSession, dataClass } = this[BINDING]
    // Checked first: a later error would reveal that the entity exists.
    codeSession.scope.demandRead(dataClass)
    return this.#find(key)
  }

  all(): SelectionBase {
    return this[BINDING].selection(this.#all() ?? { from: undefined, query: EVERYTHING })
  }

  new(values: object = {}): EntityBase {
    const entity = this[BINDING].entity(undefined)
    entity.fromObject(values)
    return entity
  }

  newSelection(): SelectionBase {
    return this[BINDING].selection(Rows.inOrder(new Uint32Array(0), RowSet.empty))
  }

  fromCollection(objects: readonly object[]): SelectionBase {
    const entities = objects.map(object => this.#fromObject(object as Record<string, unknown>))
    const failures = saveEntities(entities.flatMap(entity => entity ?? []))
    const savedSelection = this.newSelection()
    let position = 0
    for (const entity of entities) if (entity && !failures[position++]) savedSelection.add(entity)
    return savedSelection
  }

  getCount(): number {
    return this.all().length
  }

  getInfo(): DataClassInfo {
    const { name, key, tableNumber, scope } = this[BINDING].dataClass
    return { name, primaryKey: key.name, tableNumber, exposed: scope === 'public' }
  }

  /** @returns undefined if the entities are in a database */
  #all(): Rows | undefined {
    const { codeSession, dataClass } = this[BINDING]
    codeSession.scope.demandRead(dataClass)
    const { view } = codeSession.scope
    const { context } = codeSession.snapshots
    return finderOf(dataClass, context).source({ dataClass: dataClass.name, source: { kind: 'all' } }, view, context)
  }

  #find(key: unknown): EntityBase | null {
    const binding = this[BINDING]
    const value = convertKey(binding.dataClass, toPlain(key))
    // A value that cannot be a key matches no entity.
    if (value instanceof ProtocolError || value === null) return null
    const rowId = binding.codeSession.snapshots.current.table(binding.dataClass).findKey(value)
    return rowId === undefined ? null : binding.entity(rowId)
  }

  /** @returns undefined: the entity has been saved elsewhere since the object was made */
  #fromObject(object: Record<string, unknown>): EntityBase | undefined {
    const { key } = this[BINDING].dataClass
    const sentKey = object.__KEY ?? object[key.name]
    const storedEntity = sentKey === undefined || sentKey === null ? null : this.#find(sentKey)
    if (storedEntity && object.__STAMP !== undefined && object.__STAMP !== internals.row(storedEntity)!.stamp)
      return undefined
    const entity = storedEntity ?? this.new()
    entity.fromObject(!storedEntity && object.__KEY !== undefined ? { ...object, [key.name]: object.__KEY } : object)
    return entity
  }
}
