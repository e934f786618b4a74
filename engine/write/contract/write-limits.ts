import type { SaveRequest } from './requests.ts'
import { WriteErrors } from './write-errors.ts'
import { JSON_BOUNDS, type JsonBounds } from '../../base/json-bounds.ts'

/** Bounds of what one save or deletion may ask of the writer. All are options. */
export interface WriteLimits {
  /** Entities of one save. */
  readonly maxEntities: number
  /** Bytes of the JSON of one of them. */
  readonly maxEntityBytes: number
  /** Names in one of them. */
  readonly maxAttributes: number
  /** The same with those within its objects. One with many thousands takes V8 several times as long for each. */
  readonly maxNames: number
  /** Problems of one entity that are described; the others are counted. */
  readonly maxProblems: number
  /** Entities of one save whose problems are described. */
  readonly maxDescribed: number
  /** Entities that are changed in one transaction by definition: `$atomic`, `$method=validate`, `$refresh`, cascades. */
  readonly maxTransactionEntities: number
  /** Names in the body of such a save, those within its objects included. */
  readonly maxTransactionNames: number
}

/** Bounds of a save: those of its JSON and those of its entities. */
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
  /** Names of all entities, when the save is one transaction. */
  readonly transaction?: { readonly what: string; readonly maxNames: number } | undefined
}

/** Levels of a body around the value of an attribute: `{"__ENTITIES":[{…}]}`. */
const LEVELS_AROUND = 3

/** Bounds of the body of a save, in which the value of each attribute may be as deep as `json` says. */
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

/** Bounds of bodies from the operator and from code: only their depth is bounded, since writing them again takes a recursion. */
export const TRUSTED_BODY: BodyLimits = {
  depth: 500,
  values: Number.POSITIVE_INFINITY,
  maxEntities: Number.POSITIVE_INFINITY,
  maxEntityBytes: Number.POSITIVE_INFINITY,
  maxAttributes: Number.POSITIVE_INFINITY,
  maxNames: Number.POSITIVE_INFINITY,
}

type TransactionKind = Pick<SaveRequest, 'atomic' | 'mode'>

/** Whether a save is one transaction, whatever its size. */
export const isOneTransaction = ({ atomic, mode }: TransactionKind): boolean => atomic || mode !== 'update'

const transactionOf = ({ atomic, mode }: TransactionKind): string =>
  atomic ? 'a save with $atomic' : mode === 'validate' ? '$method=validate' : '$refresh'

/** @throws {WriteErrors.TOO_MANY_AT_ONCE} a save is one transaction, and too large for one */
export function checkTransactionSize(
  request: TransactionKind & Pick<SaveRequest, 'trusted'>,
  entities: number,
  { maxTransactionEntities }: WriteLimits,
): void {
  if (request.trusted || entities <= maxTransactionEntities || !isOneTransaction(request)) return
  throw WriteErrors.TOO_MANY_AT_ONCE(transactionOf(request), maxTransactionEntities)
}
