/** The entities of a selection as a file, which the server writes and the browser saves as it arrives. */
import { type Attribute, isRelation, targetOf } from '../base/catalog.ts'
import { saveAs } from '../base/download.ts'
import { labelOf } from '../base/label.ts'
import { SCORE } from '../base/model.ts'
import { place } from '../base/place.ts'
import { addressOf, readAnswer, respond } from '../base/rest.ts'
import { createSet, parametersOf, type Selection } from '../base/selection.ts'
import { type Column, defaultColumns, parseColumns } from '../browse/columns.ts'

export const EXPORT_FORMATS = ['csv', 'ndjson', 'json'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

const SET_SECONDS = 600

/**
 * Makes the browser save the entities of a selection.
 * @param columns paths of attributes; undefined for all
 * @throws {RestError} the server refuses to write them
 */
export async function exportSelection(
  selection: Selection,
  format: ExportFormat,
  columns: readonly string[] | undefined,
): Promise<void> {
  // The length of an address limits a filter, but an entity set has no such limit.
  const set = await createSet(selection, parametersOf(selection), SET_SECONDS)
  const form = format === 'json' ? { $asArray: true } : { $format: format }
  const parameters = { ...form, $attributes: columns?.join(',') }
  // The browser does not show why a download fails.
  const first = await respond(addressOf(set, { ...parameters, $top: 1 }))
  readAnswer(first, await first.text())
  const $top = format === 'json' ? -1 : undefined
  saveAs(addressOf(set, { ...parameters, $top }), `${selection.dataClass.name}.${format}`)
}

/** Paths of the columns that the grid shows, without columns that files cannot contain: images, blobs, lists of entities, scores. */
export function shownPaths({ dataClass }: Selection): readonly string[] {
  const { columns = '' } = place.value.query
  const chosenColumns = parseColumns(columns, dataClass, targetOf)
  const shownColumns = chosenColumns.length > 0 ? chosenColumns : defaultColumns(dataClass, targetOf)
  return shownColumns.filter(isWritten).map(pathOfColumn)
}

const isWritten = ({ path, attribute: { kind, type } }: { path: string; attribute: Attribute }): boolean =>
  kind !== 'relatedEntities' && type !== 'image' && type !== 'blob' && path !== SCORE

const pathOfColumn = ({ path, attribute, target }: Column): string =>
  isRelation(attribute) ? `${path}.${labelOf(target!).name}` : path
