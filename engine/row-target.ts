import type { Saves } from './saves.ts'
import type { LoadTarget } from './import/load-options.ts'
import { bytesOf } from './answer/answer-body.ts'
import type { DataClass } from './catalog/dataclass.ts'
import type { EngineParts } from './engine-parts.ts'
import { type ImportRequest, importRows } from './import/import-rows.ts'
import { type PreviewRequest, previewRows, type RowPreview } from './import/preview-rows.ts'
import type { FindKeys } from './import/relation-lookup.ts'
import type { LoadSummary } from './import/load-options.ts'
import type { RowFormat } from './import/row-reader.ts'
import type { KeysArgs } from './query/tasks/value-tasks.ts'
import { copyBytes } from './base/promised.ts'
import type { ReadRequest } from './query/contract/request.ts'
import type { LoadMark, SaveRequest, SaveResult } from './write/contract/requests.ts'

/** Saves rows of files as entities, with the rights of the operator. */
export class RowTarget implements LoadTarget {
  constructor(
    private readonly parts: EngineParts,
    private readonly saves: Saves,
  ) {}

  write(request: SaveRequest): Promise<SaveResult> {
    return this.saves.write(request)
  }

  /**
   * Reads and encodes the texts of rows of a file for {@link insert}, with the rights of the operator.
   * @returns undefined if code or a database takes part in saves of the dataclass
   */
  async encodeRows(
    dataClass: DataClass,
    format: RowFormat,
    texts: readonly string[],
    moment?: number,
  ): Promise<Uint8Array | undefined> {
    if (this.isSavedElsewhere(dataClass)) return undefined
    return this.parts.bodies.encodeRows(dataClass.name, format, texts, moment)
  }

  /** True if code or a database takes part in saves of a dataclass. Such saves have no {@link LoadMark}. */
  isSavedElsewhere(dataClass: DataClass): boolean {
    return !this.parts.backends.of(dataClass).insert || this.parts.hooked.onSave(dataClass)
  }

  /** Inserts the rows that {@link encodeRows} has encoded. @returns indexes of the rows that {@link write} has to save */
  async insert(dataClass: DataClass, packedRows: Uint8Array, mark?: LoadMark): Promise<Uint32Array> {
    const request = { kind: 'insert', dataClass: dataClass.name, encoded: packedRows, mark } as const
    return (await this.parts.backends.of(dataClass).insert!(request)).remainingIndexes
  }

  /** Keys of at most two entities for each value of an indexed attribute, with the rights of the operator. */
  async findKeys(...[{ dataClass, name }, values]: Parameters<FindKeys>): Promise<string[][]> {
    const request: ReadRequest = {
      dataClass: dataClass.name,
      source: { kind: 'all' },
      skip: 0,
      top: 0,
      output: { form: 'array' },
    }
    const args: KeysArgs = { attribute: name, values }
    const answer = await copyBytes(this.parts.backends.run({ kind: 'keys', request, args }))
    return JSON.parse(Buffer.from(await bytesOf(answer)).toString()) as string[][]
  }

  importRows(request: ImportRequest): Promise<LoadSummary> {
    return importRows(this, this.parts.data.catalog, request, (this.parts.options.now ?? Date.now)())
  }

  previewRows(request: PreviewRequest): Promise<RowPreview> {
    return previewRows(this, this.parts.data.catalog, request)
  }
}
