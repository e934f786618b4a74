import type { SaveRequest } from './requests.ts'
import { WriteErrors } from './write-errors.ts'
import { JSON_BOUNDS, type JsonBounds } from '../base/json-bounds.ts'

/** Bounds of what one save or deletion may ask of the writer. All are options. */
export interface WriteLimits {
  /** Entities of one save. */
  readonly maxEntities: number
  /** Bytes of the JSON of one of them. */
  readonly maxEntityBytes: number
  /** Names in one of them. */
  readonly maxAttributes: number
  /** Problems of one entity that are described; the others are counted. */
  readonly maxProblems: number
  /** Entities of one save whose problems are described. */
  readonly maxDescribed: number
  /** Entities that are changed in one transaction by definition: `$atomic`, `$method=validate`, `$refresh`, cascades. */
  readonly maxTransactionEntities: number
}

/** Bounds of a save: those of its JSON and those of its entities. */
export interface SaveLimits extends WriteLimits {
  readonly json: JsonBounds
}

export const SAVE_LIMITS: SaveLimits = {
  maxEntities: 100_000,
  maxEntityBytes: 4 * 2 ** 20,
  maxAttributes: 1_000,
  maxProblems: 20,
  maxDescribed: 1_000,
  maxTransactionEntities: 10_000,
  json: JSON_BOUNDS,
}

export type BodyLimits = JsonBounds & Pick<WriteLimits, 'maxEntities' | 'maxEntityBytes' | 'maxAttributes'>

/** Levels of a body around the value of an attribute: `{"__ENTITIES":[{…}]}`. */
const LEVELS_AROUND = 3

/** Bounds of a body, in which the value of each attribute may be as deep as `json` says. */
export function bodyLimits({ json, maxEntities, maxEntityBytes, maxAttributes }: SaveLimits): BodyLimits {
  return { depth: json.depth + LEVELS_AROUND, values: json.values, maxEntities, maxEntityBytes, maxAttributes }
}

/** Bounds of bodies from the operator and from code: only their depth is bounded, since writing them again takes a recursion. */
export const TRUSTED_BODY: BodyLimits = {
  depth: 500,
  values: Number.POSITIVE_INFINITY,
  maxEntities: Number.POSITIVE_INFINITY,
  maxEntityBytes: Number.POSITIVE_INFINITY,
  maxAttributes: Number.POSITIVE_INFINITY,
}

/** Whether a save is one transaction, whatever its size. */
export const isOneTransaction = ({ atomic, mode }: Pick<SaveRequest, 'atomic' | 'mode'>): boolean =>
  atomic || mode !== 'update'

/** @throws {WriteErrors.TOO_MANY_AT_ONCE} a save is one transaction, and too large for one */
export function checkTransactionSize(
  request: Pick<SaveRequest, 'atomic' | 'mode' | 'trusted'>,
  entities: number,
  { maxTransactionEntities }: WriteLimits,
): void {
  if (request.trusted || entities <= maxTransactionEntities || !isOneTransaction(request)) return
  const what = request.atomic ? 'a save with $atomic' : request.mode === 'validate' ? '$method=validate' : '$refresh'
  throw WriteErrors.TOO_MANY_AT_ONCE(what, maxTransactionEntities)
}
