import type { DataClass } from '../catalog/dataclass.ts'
import type { ElementEncoder } from '../write/body/element-encoder.ts'
import { JsonCopier } from '../write/body/json-copier.ts'
import { parserOf } from '../write/body/parse-body.ts'
import { CsvCopier } from './csv-copier.ts'
import { asNewEntity } from './row-batch.ts'
import { type RowFormat, RowReader } from './row-reader.ts'

/** Encodes the rows of a file as new entities. */
export class RowEncoder {
  private readonly reader: RowReader
  private readonly csv: CsvCopier | undefined
  private readonly json: JsonCopier | undefined

  constructor(
    private readonly dataClass: DataClass,
    format: RowFormat,
    private readonly encoder: ElementEncoder,
  ) {
    this.reader = new RowReader(dataClass, format)
    const { copier } = encoder
    this.csv = copier && CsvCopier.of(this.reader, copier, format)
    const isDirect = !format.csv && !format.names && !format.hasFeatures && !format.proposed
    this.json = copier && isDirect ? new JsonCopier(copier, parserOf(dataClass)) : undefined
  }

  /** Encodes the row `bytes[start…end]`, which is UTF-8; an empty one is left out. */
  add(bytes: Buffer, start: number, end: number): void {
    const { reader, encoder } = this
    if (start === end) encoder.addNothing()
    else if (!encoder.copier?.isUseful || !this.copy(bytes, start, end)) {
      const text = bytes.toString('utf8', start, end)
      if (reader.attributes) this.addFields(text)
      else {
        const read = reader.read({ line: 0, text })
        encoder.add(read.value instanceof Error ? undefined : asNewEntity(read, this.dataClass).value)
      }
    }
  }

  private copy(bytes: Buffer, start: number, end: number): boolean {
    if (this.csv) return this.csv.copy(bytes, start, end)
    return this.json !== undefined && this.json.copy(bytes, start, end, true) >= 0
  }

  private addFields(text: string): void {
    const fields = this.reader.fields(text)
    if (fields) this.encoder.addFields(this.reader.attributes!, fields)
    else this.encoder.addNothing()
  }
}
