import type { SaveRequest } from './requests.ts'
import { WriteErrors } from './write-errors.ts'
import { JSON_BOUNDS, type JsonBounds } from '../../base/json-bounds.ts'

/** Bounds of one save or deletion. All are options. */
export interface WriteLimits {
  /** Maximum number of entities in one save. */
  readonly maxEntities: number
  /** Maximum bytes of the JSON of an entity. */
  readonly maxEntityBytes: number
  /** Maximum number of names in an entity. */
  readonly maxAttributes: number
  /**
   * Maximum number of names in an entity, including its objects. Many thousands take V8 several times as long per name.
   */
  readonly maxNames: number
  /** Maximum number of problems of an entity that are described; the others are counted. */
  readonly maxProblems: number
  /** Maximum number of entities of a save whose problems are described. */
  readonly maxDescribed: number
  /**
   * Maximum number of entities in a request that is one transaction: `$atomic`, `$method=validate`, `$refresh`, cascades.
   */
  readonly maxTransactionEntities: number
  /** Maximum number of names in the body of a save that is one transaction, including its objects. */
  readonly maxTransactionNames: number
}

/** Bounds of a save: of its JSON and of its entities. */
export interface SaveLimits extends WriteLimits {
  readonly json: JsonBounds
}

export const SAVE_LIMITS: SaveLimits = {
  maxEntities: 100_000,
  maxEntityBytes: 4 * 2 ** 20,
  maxAttributes: 1_000,
  maxNames: 10_000,
  maxProblems: 20,
  maxDescribed: 1_000,
  maxTransactionEntities: 10_000,
  maxTransactionNames: 200_000,
  json: JSON_BOUNDS,
}

export interface BodyLimits
  extends JsonBounds,
    Pick<WriteLimits, 'maxEntities' | 'maxEntityBytes' | 'maxAttributes' | 'maxNames'> {
  /** Bound for the names of all entities, if the save is one transaction. */
  readonly transaction?: { readonly what: string; readonly maxNames: number } | undefined
}

/** Nesting levels around the value of an attribute: `{"__ENTITIES":[{…}]}`. */
const LEVELS_AROUND = 3

/** Bounds of the body of a save. The depth in `json` applies to the value of each attribute. */
export function bodyLimits(
  request: TransactionKind,
  { json, maxEntities, maxEntityBytes, maxAttributes, maxNames, maxTransactionNames }: SaveLimits,
): BodyLimits {
  const transaction = isOneTransaction(request)
    ? { what: transactionOf(request), maxNames: maxTransactionNames }
    : undefined
  const { depth, values } = json
  return { depth: depth + LEVELS_AROUND, values, maxEntities, maxEntityBytes, maxAttributes, maxNames, transaction }
}

/** Bounds of bodies from the operator and from code: only their depth is bounded, because serializing them again recurses. */
export const TRUSTED_BODY: BodyLimits = {
  depth: 500,
  values: Number.POSITIVE_INFINITY,
  maxEntities: Number.POSITIVE_INFINITY,
  maxEntityBytes: Number.POSITIVE_INFINITY,
  maxAttributes: Number.POSITIVE_INFINITY,
  maxNames: Number.POSITIVE_INFINITY,
}

type TransactionKind = Pick<SaveRequest, 'atomic' | 'mode'>

/** True if a save is always one transaction, whatever its size. */
export const isOneTransaction = ({ atomic, mode }: TransactionKind): boolean => atomic || mode !== 'update'

const transactionOf = ({ atomic, mode }: TransactionKind): string =>
  atomic ? 'a save with $atomic' : mode === 'validate' ? '$method=validate' : '$refresh'

/** @throws {WriteErrors.TOO_MANY_AT_ONCE} the save has to be one transaction, and is too large for one */
export function checkTransactionSize(
  request: TransactionKind & Pick<SaveRequest, 'trusted'>,
  entities: number,
  { maxTransactionEntities }: WriteLimits,
): void {
  if (request.trusted || entities <= maxTransactionEntities || !isOneTransaction(request)) return
  throw WriteErrors.TOO_MANY_AT_ONCE(transactionOf(request), maxTransactionEntities)
}
