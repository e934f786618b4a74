import { buffer } from 'node:stream/consumers'
import { ZipFile } from 'yazl'

/** Parts of an Excel file, as programs write them that are not Excel. */
export interface XlsxParts {
  /** The XML within `<sheetData>`. */
  readonly rows: string
  /** The `<si>` elements of the shared texts. */
  readonly texts?: string
  /** Codes of the formats, of the styles 1, 2, 3 …, or the number of a format without a code. */
  readonly formats?: readonly (string | number)[]
  readonly is1904?: boolean
  /** Parts in place of those that are made of the others, or beside them. */
  readonly others?: Readonly<Record<string, string | Buffer>>
}

const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
const RELATION = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const FIRST_OWN_FORMAT = 164

/** An Excel file with one sheet. */
export function xlsxFile({ rows, texts = '', formats = [], is1904 = false, others = {} }: XlsxParts): Promise<Buffer> {
  const relations = (...targets: [string, string][]): string =>
    `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${targets
      .map(([type, target], i) => `<Relationship Id="rId${i}" Type="${RELATION}/${type}" Target="${target}"/>`)
      .join('')}</Relationships>`
  const escaped = (text: string): string =>
    text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
  const own = formats.map((format, i) =>
    typeof format === 'string' ? `<numFmt numFmtId="${FIRST_OWN_FORMAT + i}" formatCode="${escaped(format)}"/>` : '',
  )
  const styles = formats.map(
    (format, i) => `<xf numFmtId="${typeof format === 'string' ? FIRST_OWN_FORMAT + i : format}"/>`,
  )
  const parts: Record<string, string | Buffer> = {
    '_rels/.rels': relations(['officeDocument', 'xl/workbook.xml']),
    'xl/_rels/workbook.xml.rels': relations(
      ['worksheet', 'worksheets/sheet1.xml'],
      ['sharedStrings', '/xl/sharedStrings.xml'],
      ['styles', 'styles.xml'],
    ),
    'xl/workbook.xml': `<workbook ${MAIN} xmlns:r="${RELATION}"><workbookPr date1904="${is1904 ? 1 : 0}"/><sheets><sheet name="S" sheetId="1" r:id="rId0"/></sheets></workbook>`,
    'xl/worksheets/sheet1.xml': `<worksheet ${MAIN}><sheetData>${rows}</sheetData></worksheet>`,
    'xl/sharedStrings.xml': `<sst ${MAIN}>${texts}</sst>`,
    'xl/styles.xml': `<styleSheet ${MAIN}><numFmts>${own.join('')}</numFmts><cellXfs><xf numFmtId="0"/>${styles.join('')}</cellXfs></styleSheet>`,
    ...others,
  }
  const file = new ZipFile()
  for (const [name, xml] of Object.entries(parts))
    file.addBuffer(typeof xml === 'string' ? Buffer.from(HEAD + xml) : xml, name)
  file.end()
  return buffer(file.outputStream)
}
