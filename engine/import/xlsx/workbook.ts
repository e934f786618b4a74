import type { XmlElement } from '@rgrove/parse-xml'
import type { Archive } from './archive.ts'
import type { CellContext } from './cell-value.ts'
import { formatOfBuiltIn, formatOfCode, type NumberFormat } from './number-format.ts'
import { relationsOf } from './relations.ts'
import { sharedTexts } from './sheet-rows.ts'
import { attribute, children, rootOf, within } from './xml-elements.ts'

/** Maximum bytes of the shared texts, which are in memory. */
const MAX_TEXTS = 2 ** 30
const MAX_TEXT_COUNT = 2 ** 24

export interface Sheet {
  readonly name: string
  readonly part: string
  readonly isHidden: boolean
}

/** A workbook without the rows of its sheets. */
export interface Workbook extends CellContext {
  /** Sheets in their order. */
  readonly sheets: readonly Sheet[]
  /** True if spreadsheet programs compute all formulas when they open the file, because its writer has not computed them. */
  readonly isToBeCalculated: boolean
}

/** Reads all of an Excel file except the rows. Source: ECMA-376, part 1, 18. @throws {Error} the file is damaged or not an Excel file */
export async function readWorkbook(archive: Archive): Promise<Workbook> {
  const main = (await relationsOf(archive, '')).find(({ type }) => type === 'officeDocument')?.part
  if (main === undefined) throw new Error('it has no workbook')
  const relations = await relationsOf(archive, main)
  const partOf = (relationType: string): string | undefined =>
    relations.find(({ type, part }) => type === relationType && archive.has(part))?.part
  const workbook = await rootOf(archive, main)
  const worksheets = new Map(relations.filter(({ type }) => type === 'worksheet').map(({ id, part }) => [id, part]))
  const sheets = within(workbook, 'sheets', 'sheet').flatMap(sheet => {
    const part = worksheets.get(attribute(sheet, 'id') ?? '')
    const isHidden = (attribute(sheet, 'state') ?? 'visible') !== 'visible'
    return part === undefined ? [] : [{ name: attribute(sheet, 'name') ?? '', part, isHidden }]
  })
  const strings: string[] = []
  const stringsPart = partOf('sharedStrings')
  if (stringsPart !== undefined) {
    archive.checkSize(stringsPart, MAX_TEXTS)
    for await (const texts of sharedTexts(archive.texts(stringsPart))) {
      for (const text of texts) strings.push(text)
      if (strings.length > MAX_TEXT_COUNT) throw new Error(`it has more than ${MAX_TEXT_COUNT} shared texts`)
    }
  }
  const styles = partOf('styles')
  return {
    sheets,
    strings,
    isToBeCalculated: children(workbook, 'calcPr').some(each => isTrue(attribute(each, 'fullCalcOnLoad'))),
    is1904: children(workbook, 'workbookPr').some(each => isTrue(attribute(each, 'date1904'))),
    formats: styles === undefined ? [] : formatsOf(await rootOf(archive, styles)),
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
