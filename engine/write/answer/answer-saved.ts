import type { Attribute } from '../../catalog/attribute.ts'
import type { DataClass } from '../../catalog/dataclass.ts'
import type { View } from '../../catalog/view.ts'
import { ProtocolError } from '../../base/errors.ts'
import type { RowLayout } from '../../row-format/row-layout.ts'
import type { Snapshot } from '../../data/snapshot.ts'
import { needsOf } from '../../data/suspended.ts'
import type { SaveRequest, SaveResult } from '../contract/requests.ts'
import type { QueryLimits } from '../../query/contract/query-limits.ts'
import type { Output } from '../../query/contract/request.ts'
import type { AnswerContext } from '../../query/serialise/answer.ts'
import { bindProjection } from '../../query/serialise/bind-projection.ts'
import { writeCounts, writeProblems, writeSaved } from './write-saved.ts'

/** Form of the answer to a save: its mode, and the output form of its entities. */
export interface SavedShape extends Readonly<Pick<SaveRequest, 'mode' | 'atomic'>> {
  readonly output: Output
}

interface SavedScope {
  readonly view: View
  readonly layouts: ReadonlyMap<DataClass, RowLayout>
  readonly limits: QueryLimits
  /** Called with faults of plugin code; the client does not see them. */
  readonly onFault?: ((error: unknown) => void) | undefined
}

/** @returns UTF-8 JSON, valid until the next answer of this thread; with a sink, the part that has not been written to it */
export type SavedWriter = (result: SaveResult, snapshot: Snapshot, context?: AnswerContext) => Uint8Array

/**
 * Prepares the answer to a save, so that a wrong `$expand` is found before the save. When the answer is written, the entities have
 * been saved, so a failure (an answer that is too large, a deleted entity, code that throws) must not look like a failed save: the
 * answer is written with less content.
 * @throws {ProtocolError} `output` is invalid; {@link Suspended}
 */
export function prepareSaved(dataClass: DataClass, shape: SavedShape, scope: SavedScope): SavedWriter {
  const first = savedWriter(dataClass, shape, scope)
  return (result, snapshot, context) => {
    let write = first
    for (let reduction = 1; ; reduction++) {
      try {
        return write(result, snapshot, context)
      } catch (error) {
        // The answer is written again by the back end that has the data.
        if (needsOf(error)) throw error
        if (reduction > STORED_ONLY) throw error
        if (!(error instanceof ProtocolError)) scope.onFault?.(error)
        context?.sink?.restart()
        write = savedWriter(dataClass, shape, scope, reduction)
      }
    }
  }
}

/** True if the answer to a save shows nothing but the saved rows. @throws {ProtocolError} as {@link savedWriter} */
export function isOfRows(
  dataClass: DataClass,
  { mode, output }: SavedShape,
  { view, layouts, limits }: SavedScope,
): boolean {
  if (mode !== 'update' || output.returning) return false
  return bindProjection(dataClass, output, view, layouts, limits).entity.related.length === 0
}

/** Reduction of an answer to stored attributes. At reduction 1 it has all attributes and expands nothing. */
export const STORED_ONLY = 2

/**
 * Writer of the answer to a save, as requested or reduced.
 * @throws {ProtocolError} `output` is invalid; {@link Suspended}
 */
export function savedWriter(
  dataClass: DataClass,
  { mode, atomic, output }: SavedShape,
  { view, layouts, limits }: SavedScope,
  reduction = 0,
): SavedWriter {
  const shape = { maxBytes: limits.maxAnswerBytes, pretty: output.pretty ?? false }
  if (mode === 'validate') return (result, _, context) => writeProblems(result, shape, context)
  if (output.returning) {
    const layout = layouts.get(dataClass)!
    const isPartial = mode === 'update' && !atomic
    return (result, _, context) => writeCounts(result, layout, { ...shape, isPartial }, context)
  }
  if (reduction === 0) bindProjection(dataClass, output, view, layouts, limits)
  return (result, snapshot, context) => {
    // The answer to a single object is an object, even with `$asArray`.
    const isArray = output.form === 'array' && result.many
    let finalOutput = output
    if (reduction === STORED_ONLY) finalOutput = storedOnly(view.attributes(dataClass), isArray ? 'array' : 'entity')
    else if (reduction > 0) finalOutput = { form: isArray ? 'array' : 'entity' }
    else if (output.form === 'array' && !isArray) finalOutput = { ...output, form: 'entity' }
    return writeSaved(result, bindProjection(dataClass, finalOutput, view, layouts, limits), snapshot, context)
  }
}

const storedOnly = (attributes: readonly Attribute[], form: Output['form']): Output => {
  const storageAttributes = attributes.filter(({ kind }) => kind === 'storage')
  return {
    form,
    attributes: { from: 'path', items: storageAttributes.map(({ name }) => ({ path: [name], range: undefined })) },
  }
}
