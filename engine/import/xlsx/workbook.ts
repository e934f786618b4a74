import { parseXml, XmlElement } from '@rgrove/parse-xml'
import type { Archive } from './archive.ts'
import type { CellContext } from './cell-value.ts'
import { formatOfBuiltIn, formatOfCode, type NumberFormat } from './number-format.ts'
import { localName, sharedTexts } from './sheet-rows.ts'

/** Maximum bytes of the shared texts, which are in memory. */
const MAX_TEXTS = 2 ** 30

/** A workbook without the rows of its sheets. */
export interface Workbook extends CellContext {
  /** Sheets in their order, each with the name of its part. */
  readonly sheets: readonly { readonly name: string; readonly part: string }[]
}

/** Reads all of an Excel file except the rows. Source: ECMA-376, part 1, 18. @throws {Error} the file is damaged or not an Excel file */
export async function readWorkbook(archive: Archive): Promise<Workbook> {
  const main = (await relationsOf(archive, '')).find(({ type }) => type === 'officeDocument')?.part
  if (main === undefined) throw new Error('it has no workbook')
  const relations = await relationsOf(archive, main)
  const partOf = (relationType: string): string | undefined =>
    relations.find(({ type, part }) => type === relationType && archive.has(part))?.part
  const workbook = parseXml(await archive.text(main)).root!
  const worksheets = new Map(relations.filter(({ type }) => type === 'worksheet').map(({ id, part }) => [id, part]))
  const sheets = within(workbook, 'sheets', 'sheet').flatMap(sheet => {
    const part = worksheets.get(attribute(sheet, 'id') ?? '')
    return part === undefined ? [] : [{ name: attribute(sheet, 'name') ?? '', part }]
  })
  const strings: string[] = []
  const stringsPart = partOf('sharedStrings')
  if (stringsPart !== undefined) {
    archive.checkSize(stringsPart, MAX_TEXTS)
    for await (const texts of sharedTexts(archive.texts(stringsPart))) for (const text of texts) strings.push(text)
  }
  const styles = partOf('styles')
  return {
    sheets,
    strings,
    is1904: children(workbook, 'workbookPr').some(each => isTrue(attribute(each, 'date1904'))),
    formats: styles === undefined ? [] : formatsOf(parseXml(await archive.text(styles)).root!),
  }
}

const isTrue = (text: string | undefined): boolean => text === '1' || text === 'true'

function formatsOf(styles: XmlElement): NumberFormat[] {
  const customFormats = new Map(
    within(styles, 'numFmts', 'numFmt').map(format => [
      attribute(format, 'numFmtId'),
      formatOfCode(attribute(format, 'formatCode') ?? ''),
    ]),
  )
  return within(styles, 'cellXfs', 'xf').map(style => {
    const id = attribute(style, 'numFmtId') ?? '0'
    return customFormats.get(id) ?? formatOfBuiltIn(Number(id))
  })
}

interface Relation {
  readonly id: string
  /** Last part of its address, which is the same in both variants of the format. */
  readonly type: string
  readonly part: string
}

/** Parts to which a part refers or, with an empty name, to which the whole file refers. Source: ECMA-376, part 2, 6.5. */
async function relationsOf(archive: Archive, part: string): Promise<Relation[]> {
  const slash = part.lastIndexOf('/') + 1
  const relations = parseXml(await archive.text(`${part.slice(0, slash)}_rels/${part.slice(slash)}.rels`)).root!
  return children(relations, 'Relationship').map(relation => ({
    id: attribute(relation, 'Id') ?? '',
    type: attribute(relation, 'Type')?.split('/').at(-1) ?? '',
    part: new URL(attribute(relation, 'Target') ?? '', `file:///${part}`).pathname.slice(1),
  }))
}

/** Elements two levels below an element. */
const within = (element: XmlElement, list: string, item: string): XmlElement[] =>
  children(element, list).flatMap(each => children(each, item))

const children = (element: XmlElement, name: string): XmlElement[] =>
  element.children.filter((child): child is XmlElement => child instanceof XmlElement && localName(child.name) === name)

/** Value of an attribute, whatever the prefix of its namespace. */
const attribute = ({ attributes }: XmlElement, name: string): string | undefined =>
  attributes[name] ?? Object.entries(attributes).find(([each]) => localName(each) === name)?.[1]
