import type { ValueTest } from '../../query/bind/predicate.ts'
import { at, between, type Cut, type Domain } from './cut.ts'
import { betweenWords, toStored } from './fold-sql.ts'
import { orderedTest } from './ordered-test.ts'
import { isStorable, type Parameters } from './parameters.ts'

const NEVER = 'false'

/**
 * SQL of a test of a folded text; false or null for null.
 * @param text SQL of the fold, in the form of `foldExpression`; called only if that is needed, as a statement uses all of its values
 */
export function textTest(text: () => string, test: ValueTest, parameters: Parameters): string {
  switch (test.kind) {
    case 'pattern':
      return patternTest(text, test.parts, parameters)
    case 'keyword':
      return wordsTest(text, test.words, parameters)
    case 'anyOf':
      return `(${test.tests.map(each => textTest(text, each, parameters)).join(' OR ')})`
    case 'equal':
    case 'in': {
      const values = test.kind === 'equal' ? [test.value] : [...test.values]
      return values.some(each => isStorable(String(each))) ? orderedTest(FOLDS, text(), test, parameters) : NEVER
    }
    case 'any':
    case 'range':
      return orderedTest(FOLDS, text(), test, parameters)
  }
}

const FOLDS: Domain = {
  type: 'text',
  around(value) {
    const text = String(value)
    return isStorable(text) ? at(toStored(text)) : between(gapOf(text))
  },
}

/** Place of a text that no database can hold, by its first NUL character or unpaired surrogate. */
function gapOf(text: string): Cut {
  const zero = text.indexOf('\0')
  const half = text.search(/\p{Cs}/u)
  if (zero >= 0 && (half < 0 || zero < half)) return { at: toStored(text.slice(0, zero)), isBehind: true }
  const code = text.charCodeAt(half)
  // The smallest greater text that contains only whole characters.
  const high = code >= LOW ? AFTER_HIGH : text.charCodeAt(half + 1) >= AFTER_LOW ? code + 1 : code
  const next = high === AFTER_HIGH ? String.fromCharCode(AFTER_LOW) : String.fromCharCode(high, LOW)
  return { at: toStored(text.slice(0, half) + next), isBehind: false }
}

/** First low surrogate. A pair is a high surrogate, which has a smaller code, then a low one. */
const LOW = 0xdc00
const AFTER_HIGH = LOW
const AFTER_LOW = 0xe000

function patternTest(text: () => string, parts: readonly string[], parameters: Parameters): string {
  if (!parts.every(isStorable)) return NEVER
  const pattern = parts.map(part => toStored(part).replace(/[\\%_]/g, '\\$&')).join('%')
  return `${text()} LIKE ${parameters.add(pattern, 'text')}`
}

/** SQL that finds words in a text: each as a plain text, or by a pattern without blanks. */
function wordsTest(text: () => string, words: readonly (readonly string[])[], { list, once }: Parameters): string {
  if (!words.flat().every(isStorable)) return NEVER
  const plainWords = words.filter(parts => parts.length === 1).map(([word]) => `% ${word} %`)
  const patterns = words
    .filter(parts => parts.length > 1)
    .map(parts => (parts.every(part => part === '') ? ' [^ ]' : ` ${parts.join('[^ ]*')} `))
  const spacedText = `(' ' || regexp_replace(replace(${text()}, E'\\U0010FFFF', ''), ${once(betweenWords(), 'text')}, ' ', 'g') || ' ')`
  const conditions = [
    ...(plainWords.length > 0 ? [`${spacedText} LIKE ALL (${list(plainWords, 'text')})`] : []),
    ...(patterns.length > 0 ? [`${spacedText} ~ ALL (${list(patterns, 'text')})`] : []),
  ]
  return `(${conditions.join(' AND ')})`
}
