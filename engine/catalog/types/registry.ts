import type { ScalarType, StorageType } from '../value-type.ts'
import { blob, image } from './binary.ts'
import { bool } from './bool.ts'
import { date } from './date.ts'
import { decimal } from './decimal.ts'
import type { ScalarDescriptor, TypeDescriptor } from './descriptor.ts'
import { duration } from './duration.ts'
import { long64 } from './long64.ts'
import { byte, float, long, number, word } from './number.ts'
import { object } from './object.ts'
import { string, uuid } from './text.ts'
import { vector } from './vector.ts'

type Types = {
  readonly [T in StorageType]: T extends ScalarType ? ScalarDescriptor : TypeDescriptor
}

/** The types of attributes: every one that `value-type.ts` names. */
export const TYPES: Types = {
  bool,
  byte,
  word,
  long,
  long64,
  number,
  float,
  decimal,
  date,
  duration,
  string,
  uuid,
  object,
  image,
  blob,
  vector,
}
