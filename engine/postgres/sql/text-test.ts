import type { ValueTest } from '../../query/bind/predicate.ts'
import { letterRanges, toStored } from './fold-sql.ts'
import { isStorable, type Parameters } from './parameters.ts'

const NEVER = 'false'

/** SQL of a test of a folded text, which is not null. @param text SQL of the fold, in the form of `foldExpression` */
export function textTest(text: string, test: ValueTest, parameters: Parameters): string {
  const param = (value: string): string => parameters.add(toStored(value), 'text')
  switch (test.kind) {
    case 'any':
      return 'true'
    case 'equal':
      return isStorable(String(test.value)) ? `${text} = ${param(String(test.value))}` : NEVER
    case 'in': {
      const values = [...test.values].map(String).filter(isStorable)
      return values.length === 0 ? NEVER : `${text} = ANY (${parameters.list(values.map(toStored), 'text')})`
    }
    case 'range': {
      const bounds = [
        test.lower && `${text} ${test.lower.inclusive ? '>=' : '>'} ${bound(String(test.lower.value), param)}`,
        test.upper && `${text} ${test.upper.inclusive ? '<=' : '<'} ${bound(String(test.upper.value), param)}`,
      ].filter(each => each !== undefined)
      return bounds.length === 0 ? 'true' : `(${bounds.join(' AND ')})`
    }
    case 'pattern':
      return patternTest(text, test.parts, parameters)
    case 'keyword':
      return test.words.every(parts => parts.every(isStorable))
        ? `(${test.words.map(parts => wordTest(text, parts, parameters)).join(' AND ') || 'true'})`
        : NEVER
    case 'anyOf':
      return `(${test.tests.map(each => textTest(text, each, parameters)).join(' OR ')})`
  }
}

/** A bound that cannot be stored lies between texts that can: the part in front of what cannot be stored decides nearly always. */
function bound(value: string, param: (value: string) => string): string {
  return param(value.replaceAll('\0', '\u0001').toWellFormed())
}

function patternTest(text: string, parts: readonly string[], parameters: Parameters): string {
  if (!parts.every(isStorable)) return NEVER
  const pattern = parts.map(part => toStored(part).replace(/[\\%_]/g, '\\$&')).join('%')
  return `${text} LIKE ${parameters.add(pattern, 'text')}`
}

/** A word stands between characters that are neither letters nor digits. */
function wordTest(text: string, parts: readonly string[], parameters: Parameters): string {
  const letters = letterRanges()
  const isAny = parts.every(part => part === '')
  const word = isAny ? `[${letters}]+` : parts.map(escaped).join(`[${letters}]*`)
  const pattern = `(?:^|[^${letters}])${word}(?:$|[^${letters}])`
  return `replace(${text}, E'\\U0010FFFF', '') ~ ${parameters.add(pattern, 'text')}`
}

const escaped = (part: string): string => part.replace(/[^\p{L}\p{N}]/gu, '\\$&')
