import type { ValueAttribute } from './attribute.ts'
import type { CheckedDataClass } from './checked-dataclass.ts'
import { IN_STORE } from './place.ts'
import { exceededLimits, type Limit } from './limits.ts'
import type { StorageModel } from './model-schema.ts'
import { show } from './shape-problems.ts'
import { Mismatch } from './types/descriptor.ts'
import { parametersOf } from './types/parameters.ts'
import { TYPES } from './types/registry.ts'
import type { Value } from './value.ts'

/** Problems of the default of an attribute whose other options are right, in the form of `checkAttribute`. */
export function defaultProblems(name: string, model: StorageModel, dataClass: CheckedDataClass): string[] {
  const { default: json, type, autoFill, unique } = model
  if (json === undefined) return []
  if (autoFill) return [`.default: new entities have the value of "autoFill": "${autoFill}"; leave one of them out`]
  if (unique || dataClass.model.key === name)
    return [`.default: "${name}" is unique, so that two new entities cannot both have it; leave it out`]
  if (json === null) return ['.default: is null, as without it; leave it out, or give a value']
  const attribute = { ...UNLIMITED, ...model, ...parametersOf(model) }
  // The conversion does not need the key of the dataclass, and a default must be a value that the store could hold.
  const owner = { place: IN_STORE }
  const value = TYPES[type].convert(json, { ...attribute, dataClass: owner } as unknown as ValueAttribute, false)
  if (value instanceof Mismatch)
    return [`.default: expected ${value.expected}, received ${value.received ?? show(json)}`]
  return exceededLimits(attribute, value as Value).map(
    limit => `.default: ${show(json)} ${REASONS[limit]} ${limit}, which is ${model[limit]}`,
  )
}

const UNLIMITED = {
  minValue: undefined,
  maxValue: undefined,
  minLength: undefined,
  maxLength: undefined,
  pattern: undefined,
  choices: undefined,
}

const REASONS: Readonly<Record<Limit, string>> = {
  minValue: 'is below',
  maxValue: 'is above',
  minLength: 'is shorter than',
  maxLength: 'is longer than',
  pattern: 'does not match',
  choices: 'is not among',
}
