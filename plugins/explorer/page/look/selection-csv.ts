/** All entities of a selection as a CSV file, which the server generates and the browser saves as it arrives. */
import { type Attribute, type DataClass, isRelation, targetOf } from '../base/catalog.ts'
import { saveAs } from '../base/download.ts'
import { labelOf } from '../base/label.ts'
import { place } from '../base/place.ts'
import { addressOf } from '../base/rest.ts'
import { createSet, parametersOf, type Selection } from '../base/selection.ts'
import { notify } from '../base/work.ts'
import { type Column, columnOf, parseColumns } from '../browse/columns.ts'
import { text } from './texts.ts'

const SET_SECONDS = 600

/** Saves the entities in a file, with the columns of the grid, or with all attributes whose values fit on one line. */
export async function saveCsv(selection: Selection): Promise<void> {
  const { dataClass } = selection
  // An address cannot hold a filter of any length, but an entity set can.
  const set = await createSet(selection, parametersOf(selection), SET_SECONDS)
  const $attributes = columnsOf(dataClass).map(pathOfColumn).join(',')
  saveAs(addressOf(set, { $attributes, $format: 'csv' }), `${dataClass.name}.csv`)
  notify(text('saving', { name: dataClass.name }))
}

/** Columns of the address, or all attributes; without those whose values do not fit on one line. */
function columnsOf(dataClass: DataClass): readonly Column[] {
  const { columns } = place.value.query
  const found = columns
    ? parseColumns(columns, dataClass, targetOf)
    : dataClass.attributes.flatMap(({ name }) => columnOf(name, dataClass, targetOf) ?? [])
  return found.filter(({ attribute }) => isWritten(attribute))
}

const isWritten = ({ kind, type }: Attribute): boolean =>
  kind !== 'relatedEntities' && type !== 'image' && type !== 'blob'

const pathOfColumn = ({ path, attribute, target }: Column): string =>
  isRelation(attribute) ? `${path}.${labelOf(target!).name}` : path
