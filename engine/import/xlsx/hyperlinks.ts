import type { Archive } from './archive.ts'
import type { SheetCell } from './cell-value.ts'
import { localName, readXml } from './read-xml.ts'
import type { Relation } from './relations.ts'
import { columnName } from './sheet-rows.ts'

/** Addresses by cell: `B7`. */
export type Hyperlinks = ReadonlyMap<string, string>

/** Maximum number of cells that one hyperlink covers. */
const MAX_CELLS = 10_000
/** Maximum number of cells of a sheet with hyperlinks. */
const MAX_ALL_CELLS = 2 ** 20

const isAddress = ({ type }: Relation): boolean => type === 'hyperlink'

/** Number of addresses of the web in a sheet; cells with the address of a mailbox usually show it. */
export const countHyperlinks = (relations: readonly Relation[]): number =>
  relations.filter(each => isAddress(each) && !each.target.startsWith('mailto:')).length

/** Addresses of the cells of a sheet, which stand after its rows. Links to cells of the file are not addresses. Source: ECMA-376, part 1, 18.3.1.47. */
export async function readHyperlinks(
  archive: Archive,
  part: string,
  relations: readonly Relation[],
): Promise<Hyperlinks> {
  const addresses = new Map<string, string>()
  const targets = new Map(relations.filter(isAddress).map(({ id, target }) => [id, target]))
  if (targets.size === 0) return addresses
  const links = readXml(archive.texts(part), {
    open(name, attributes) {
      if (name !== 'hyperlink') return
      const { ref = '', location } = attributes
      const target = targets.get(Object.entries(attributes).find(([each]) => localName(each) === 'id')?.[1] ?? '')
      if (target === undefined) return
      const address = location === undefined ? target : `${target}#${location}`
      for (const cell of cellsIn(ref)) addresses.set(cell, address)
      if (addresses.size > MAX_ALL_CELLS) throw new Error(`more than ${MAX_ALL_CELLS} cells of a sheet have hyperlinks`)
    },
    text() {},
    close: () => undefined,
  })
  for await (const _ of links);
  return addresses
}

/** Names of the cells of an area such as `B7` or `B7:C9`. */
function* cellsIn(area: string): Generator<string> {
  const [first, last = first] = area.split(':').map(positionOf)
  if (!first || !last || (last.column - first.column + 1) * (last.row - first.row + 1) > MAX_CELLS) return
  for (let { row } = first; row <= last.row; row++)
    for (let { column } = first; column <= last.column; column++) yield `${columnName(column)}${row}`
}

function positionOf(cell: string): { column: number; row: number } | undefined {
  const [, letters, digits] = /^\$?([A-Z]{1,3})\$?(\d{1,7})$/.exec(cell) ?? []
  if (letters === undefined) return undefined
  const column = [...letters].reduce((number, letter) => number * 26 + letter.charCodeAt(0) - 64, 0) - 1
  return { column, row: Number(digits) }
}

const FORMULA = /^\s*HYPERLINK\(\s*"((?:[^"]|"")*)"/i

/** Address in the formula of a cell; undefined if it is computed from other cells, or is a cell of the file. */
export function addressInFormula({ formula }: SheetCell): string | undefined {
  const address = formula === undefined ? undefined : FORMULA.exec(formula)?.[1]?.replaceAll('""', '"')
  return address?.startsWith('#') ? undefined : address
}
