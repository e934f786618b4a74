/** Browser fields for texts and dates: converts inputs to the texts of fields, and typed texts to inputs. */
import type { Attribute } from '../base/model.ts'
import { editorByType, type Input } from './editor.ts'
import { restoreEnds, withPlainEnds } from './line-ends.ts'
import { instantOf, localTime } from './times.ts'

/** An area holds every text, with `\n` for every line end; the others are types of `input`. */
export type Control = 'area' | 'text' | 'date' | 'datetime-local'

/** The field that holds the stored value of an attribute exactly. */
export function controlOf(attribute: Attribute, storedValue: Input): Control {
  const editor = editorByType(attribute)
  if (editor === 'date') return fitsPicker(storedValue) ? 'date' : 'text'
  if (editor === 'time') return fitsPicker(storedValue) ? 'datetime-local' : 'text'
  return editor === 'number' || editor === 'duration' ? 'text' : 'area'
}

/** True if fields for dates show a day or an instant exactly. */
const fitsPicker = (storedValue: Input): boolean =>
  typeof storedValue !== 'string' || (FOUR_DIGITS.test(localTime(storedValue)) && !FINER.test(storedValue))

/** Years that all browsers show. */
const FOUR_DIGITS = /^(?!0000)\d{4}-/
/** Fractions of milliseconds. */
const FINER = /\.\d{4}/

/** Text in a field for an input. */
export function shownText(control: Control, input: Input): string {
  const text = typeof input === 'string' ? input : ''
  return control === 'area' ? withPlainEnds(text) : control === 'datetime-local' ? localTime(text) : text
}

/**
 * The input after a user has typed.
 * @param before the previous input
 * @param typed current text of the field; empty for an incomplete date
 */
export function typedInput(
  control: Control,
  { stored, before, typed, isPartial = false }: { stored: Input; before: Input; typed: string; isPartial?: boolean },
): Input {
  // A date with missing parts is an error, not null.
  if (typed === '' && stored !== '' && !isPartial) return null
  const storedText = typeof stored === 'string' ? stored : ''
  if (control === 'area') return restoreEnds(storedText, typeof before === 'string' ? before : '', typed)
  return control === 'datetime-local' ? instantOf(typed, storedText) : typed
}
