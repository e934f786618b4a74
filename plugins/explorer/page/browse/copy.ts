/** Cells as text for spreadsheets, and to be pasted here again: one line for each row, cells separated by tabs. */
import { type Chosen, choice, countChosen, isChosen } from '../base/chosen.ts'
import { type DataClass, isRelation } from '../base/catalog.ts'
import { exactText } from '../base/format.ts'
import { entitiesPath, entityPath } from '../base/paths.ts'
import { ask } from '../base/rest.ts'
import { notify, runWork } from '../base/work.ts'
import { copyText } from '../components/copy-text.ts'
import { writeTable } from '../paste/table.ts'
import { cellText } from './cell.tsx'
import { askedFor, type Column, valuesAt } from './columns.ts'
import type { Entity, Page, Rows } from './rows.ts'
import { text } from './texts.ts'
import { pageRowsOf } from './window.ts'

/** Maximum number of copied rows. */
const MAX_ROWS = 1_000
/** Maximum number of keys in one address. */
const MAX_KEYS = 50

/** Copies the chosen rows with the names of the columns; if none are chosen, the focused cell. */
export async function copyCells(
  rows: Rows,
  columns: readonly Column[],
  dataClass: DataClass,
  at: { readonly row: number; readonly column: number },
): Promise<void> {
  const count = countChosen(choice.value, rows.count.value ?? 0)
  const parameters = askedFor(columns, dataClass.key[0]!.name)
  if (count === 0) {
    const key = rows.at(at.row)?.__KEY
    const column = columns[at.column]
    if (key === undefined || !column) return
    const entity = await ask<Entity>(entityPath(dataClass.name, key), askedFor([column], ''))
    await copyText(copiedText(column, entity) ?? '')
    return
  }
  const entities = await runWork(text('copying'), ({ signal }) =>
    choice.value.isAll
      ? ofSet(rows, { parameters, rows: pageRowsOf(columns) }, choice.value, signal)
      : ofKeys([...choice.value.keys].slice(0, MAX_ROWS), keys =>
          ask<Page>(entitiesPath(dataClass.name, keys), { ...parameters, $top: -1 }, { signal }),
        ),
  )
  if (!entities) return
  const lines = entities.map(entity => columns.map(column => copiedText(column, entity)))
  await copyText(writeTable([columns.map(({ path }) => path), ...lines]))
  notify(text(count > entities.length ? 'copiedFirst' : 'copied', { count: entities.length }))
}

async function ofKeys(keys: readonly string[], load: (keys: readonly string[]) => Promise<Page>): Promise<Entity[]> {
  const entities: Entity[] = []
  for (let at = 0; at < keys.length; at += MAX_KEYS) {
    const batch = keys.slice(at, at + MAX_KEYS)
    // A single key would be answered with an entity instead of a collection.
    const page = await load(batch.length === 1 ? [...batch, ...batch] : batch)
    entities.push(...page.__ENTITIES)
  }
  return entities
}

async function ofSet(
  rows: Rows,
  page: { readonly parameters: Readonly<Record<string, string | undefined>>; readonly rows: number },
  which: Chosen,
  signal: AbortSignal,
): Promise<Entity[]> {
  const entities: Entity[] = []
  for (let at = 0; at < (rows.count.value ?? 0) && entities.length < MAX_ROWS; at += page.rows) {
    const { __ENTITIES } = await rows.page({ ...page.parameters, $skip: at, $top: page.rows }, signal)
    entities.push(...__ENTITIES.filter(({ __KEY }) => __KEY !== undefined && isChosen(which, __KEY)))
  }
  return entities.slice(0, MAX_ROWS)
}

/** The complete text of a cell, as stored; null for null. */
function copiedText(column: Column, entity: Entity): string | null {
  const { path, attribute } = column
  const values = valuesAt(entity, path)
  if (isRelation(attribute) || values.length !== 1) return cellText(column, entity)
  return exactText(values[0] ?? null, attribute)
}
