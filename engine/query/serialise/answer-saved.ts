import type { Attribute } from '../../catalog/attribute.ts'
import type { DataClass } from '../../catalog/dataclass.ts'
import type { View } from '../../catalog/view.ts'
import { ProtocolError } from '../../errors.ts'
import type { RowLayout } from '../../storage/row-layout.ts'
import type { Snapshot } from '../../storage/snapshot.ts'
import type { SaveResult } from '../../write/requests.ts'
import type { QueryLimits } from '../query-limits.ts'
import type { Output } from '../request.ts'
import { bindProjection } from './bind-projection.ts'
import { writeSaved } from './write-saved.ts'

export interface SaveAnswer {
  /** Of HTTP: that of the first failure. */
  readonly status: number
  /** UTF-8 JSON. */
  readonly body: Uint8Array
}

interface Scope {
  readonly view: View
  readonly layouts: ReadonlyMap<DataClass, RowLayout>
  readonly limits: QueryLimits
  /** Is told what went wrong in code of authors, which the client is not told of. */
  readonly onFault?: (error: unknown) => void
}

/**
 * Prepares the answer to a save, so that a wrong `$expand` is not found after it.
 * @throws {ProtocolError} what is wrong with `output`; {@link CodeNeeded}
 */
export function prepareSaved(
  dataClass: DataClass,
  output: Output,
  { view, layouts, limits, onFault }: Scope,
): (result: SaveResult, snapshot: Snapshot) => SaveAnswer {
  bindProjection(dataClass, output, view, layouts, limits)
  const write = (result: SaveResult, snapshot: Snapshot, [shown, ...less]: readonly Output[]): Uint8Array => {
    try {
      return writeSaved(result, bindProjection(dataClass, shown!, view, layouts, limits), snapshot)
    } catch (error) {
      if (less.length === 0) throw error
      if (!(error instanceof ProtocolError)) onFault?.(error)
      // It has been saved: what is too large, gone meanwhile or fails to be computed must not look like a failure.
      return write(result, snapshot, less)
    }
  }
  return (result, snapshot) => {
    const failure = result.entities.find(entity => entity.failure)?.failure
    // Of its own: saves of one transaction are all answered before the first of them is sent.
    return {
      status: failure?.error.httpStatus ?? 200,
      body: write(result, snapshot, [output, { form: 'entity' }, storedOnly(view.attributes(dataClass))]).slice(),
    }
  }
}

const storedOnly = (attributes: readonly Attribute[]): Output => {
  const stored = attributes.filter(({ kind }) => kind === 'storage')
  return {
    form: 'entity',
    attributes: { from: 'path', items: stored.map(({ name }) => ({ path: [name], range: undefined })) },
  }
}
