/** Checks rows against the model: the fixture must not contain anything that the server would refuse. */
import { fold } from './text.mjs'

const INTEGERS = { byte: 2 ** 7, word: 2 ** 15, long: 2 ** 31, long64: Number.MAX_SAFE_INTEGER }
const TYPES = {
  bool: value => typeof value === 'boolean',
  date: value => /^\d{4}-\d\d-\d\d$/.test(value) && new Date(value).toISOString().startsWith(value),
  duration: Number.isInteger,
  float: Number.isFinite,
  image: value => /^data:image\/png;base64,[A-Za-z0-9+/]+=*$/.test(value),
  number: Number.isFinite,
  object: value => typeof value === 'object',
  string: value => typeof value === 'string' && value === value.trim(),
  uuid: value => /^[0-9A-F]{32}$/.test(value),
  vector: value => Array.isArray(value) && value.every(Number.isFinite),
}

/**
 * @param model the model file
 * @param rowsOf rows by dataclass, in the order of loading
 * @throws {Error} naming the first row that the model does not allow
 */
export function checkRows(model, rowsOf) {
  const keysOf = new Map()
  for (const [name, rows] of Object.entries(rowsOf)) {
    const { key, attributes } = model.dataClasses[name]
    const keys = new Set()
    keysOf.set(name, keys)
    const seen = new Map()
    for (const row of rows) {
      const fail = problem => {
        throw new Error(`${name} ${row[key]}: ${problem}`)
      }
      for (const attributeName of Object.keys(row)) {
        if ((attributes[attributeName]?.kind ?? 'storage') !== 'storage') fail(`no attribute ${attributeName} to store`)
      }
      for (const [attributeName, attribute] of Object.entries(attributes)) {
        const value = row[attributeName] ?? null
        if (attribute.kind === 'relatedEntity') {
          const foreignKey = row[attribute.foreignKey]
          // An entity may refer to one of its own dataclass that was loaded before.
          if (foreignKey !== null && !keysOf.get(attribute.type)?.has(foreignKey)) {
            fail(`${attribute.type} ${foreignKey} is not there (yet)`)
          }
        } else if (attribute.kind === undefined) {
          const problem = checkValue(attribute, value)
          if (problem) fail(`${attributeName} ${JSON.stringify(value)} ${problem}`)
          if ((attribute.unique || attributeName === key) && value !== null) {
            const values = seen.get(attributeName) ?? new Set()
            seen.set(attributeName, values)
            const compared = typeof value === 'string' ? fold(value) : value
            if (values.has(compared)) fail(`${attributeName} ${JSON.stringify(value)} is not unique`)
            values.add(compared)
          }
        }
      }
      if (row[key] === null) fail('has no key')
      keys.add(row[key])
    }
  }
}

function checkValue({ type, mandatory, minValue, maxValue, minLength, maxLength, pattern, dimension }, value) {
  if (value === null) return mandatory && 'is mandatory'
  const bound = INTEGERS[type]
  if (bound ? !Number.isInteger(value) || value < -bound || value >= bound : !TYPES[type](value)) return `is no ${type}`
  if (dimension !== undefined && value.length !== dimension) return `has not ${dimension} numbers`
  if (value < minValue || value > maxValue) return `is not between ${minValue} and ${maxValue}`
  if (value.length < minLength || value.length > maxLength)
    return `has not ${minLength ?? 0} to ${maxLength} characters`
  return pattern && !new RegExp(pattern).test(value) && `does not match ${pattern}`
}
