/** The types that values of attributes have. Source: base specification, 2.3; protocol notes, 3.1. */
const INTEGER_TYPES = ['byte', 'word', 'long', 'long64'] as const
export const NUMBER_TYPES = [...INTEGER_TYPES, 'number', 'float', 'decimal'] as const
/** A single value that compares, sorts and can be indexed. */
export const SCALAR_TYPES = ['bool', ...NUMBER_TYPES, 'date', 'duration', 'string', 'uuid'] as const
/**
 * Types of properties inside objects, which hold what JSON can hold: strings as they are written, and numbers as doubles. Dates, UUIDs and
 * long integers would have to be converted in each save of an object; attributes of the dataclass support them.
 */
export const PROPERTY_TYPES = ['bool', 'byte', 'word', 'long', 'number', 'float', 'duration', 'string'] as const
export type PropertyType = (typeof PROPERTY_TYPES)[number]
export const CALCULATED_TYPES = [...SCALAR_TYPES, 'object', 'image', 'blob'] as const
export const STORAGE_TYPES = [...CALCULATED_TYPES, 'vector'] as const

export type ScalarType = (typeof SCALAR_TYPES)[number]
export type CalculatedType = (typeof CALCULATED_TYPES)[number]
export type StorageType = (typeof STORAGE_TYPES)[number]

export const isScalarType = (type: StorageType): type is ScalarType =>
  type !== 'object' && type !== 'vector' && type !== 'image' && type !== 'blob'
