import type { DataClass } from '../../catalog/dataclass.ts'
import type { ReadStore } from '../../data/read-store.ts'
import { suggestion } from '../../base/suggestion.ts'
import { defineAttributes } from './attributes.ts'
import { BINDING, type Binding } from './binding.ts'
import { DataClassBase } from './data-class.ts'
import { derivedClass } from './derived-class.ts'
import { type AuthorClass, type ClassKind, subjectOf } from '../declare/describe-classes.ts'
import { EntityBase } from './entity.ts'
import { SelectionBase } from './entity-selection.ts'
import type { CodeSession } from './code-session.ts'
import type { Rows } from '../../query/contract/rows.ts'
import { finderOf } from '../../query/source/select.ts'
import { RowSet } from '../../row-set/row-set.ts'
import { NewRows } from './new-rows.ts'
import { LanguageErrors } from './language-errors.ts'

/**
 * Derives classes that know their dataclass and have its attributes, from plugin classes or from the base classes. A plugin class itself is
 * not changed, because it may serve another store too.
 * @throws {LanguageErrors.WRONG_BASE} {@link LanguageErrors.TWO_CLASSES}
 */
export function bindClasses(
  codeSession: CodeSession,
  classes: readonly AuthorClass[],
  { catalog, layouts }: ReadStore,
): Map<DataClass, Binding> {
  const authors = new Map<string, AuthorClass>()
  for (const each of classes) {
    const { kind, dataClass } = subjectOf(each)
    if (dataClass === undefined) continue
    if (!catalog.dataClassesByName.has(dataClass)) {
      const names = catalog.dataClasses.map(({ name }) => name)
      throw LanguageErrors.WRONG_BASE(each.name, dataClass, suggestion(dataClass, names))
    }
    const first = authors.get(`${kind} ${dataClass}`)
    if (first) throw LanguageErrors.TWO_CLASSES(first.name, each.name, `${kind} class of ${dataClass}`)
    authors.set(`${kind} ${dataClass}`, each)
  }
  return new Map(catalog.dataClasses.map(dataClass => [dataClass, bind(dataClass)]))

  function bind(dataClass: DataClass): Binding {
    const ofAuthor = <T extends object>(kind: ClassKind, ours: new () => T): (new () => T) =>
      derivedClass((authors.get(`${kind} ${dataClass.name}`) ?? ours) as new () => T, codeSession)
    const entityClass = ofAuthor('entity', EntityBase)
    const selectionClass = ofAuthor('entitySelection', SelectionBase)
    const dataClassClass = ofAuthor('dataClass', DataClassBase)
    const layout = layouts.get(dataClass)!
    const unordered = (rows: RowSet): Rows => {
      const { context } = codeSession.snapshots
      return finderOf(dataClass, context).unordered(rows, dataClass, context)
    }
    const binding: Binding = {
      codeSession,
      dataClass,
      layout,
      newRows: new NewRows(layout),
      get instance() {
        return instance
      },
      entityPrototype: entityClass.prototype,
      get fields() {
        fields ??= EntityBase.fieldsOf(entityClass)
        return fields
      },
      entity(rowId, reading) {
        if (rowId !== undefined) codeSession.scope.demandRead(dataClass)
        const entity = EntityBase.make(entityClass, rowId, reading)
        const { hooks } = codeSession.options
        if (rowId === undefined && hooks?.constructed) codeSession.scope.asEvent(() => hooks.constructed!(entity))
        return entity
      },
      selection(rows) {
        codeSession.scope.demandRead(dataClass)
        return SelectionBase.make(selectionClass, rows instanceof RowSet ? unordered(rows) : rows)
      },
    }
    for (const { prototype } of [entityClass, selectionClass, dataClassClass]) {
      Object.defineProperty(prototype, BINDING, { value: binding })
    }
    defineAttributes(entityClass.prototype, binding)
    let fields: ReadonlySet<string> | undefined
    const instance = new dataClassClass()
    return binding
  }
}
