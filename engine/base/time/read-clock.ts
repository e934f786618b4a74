/** Maximum length of a text. Clients choose the length, and no time needs more. */
const MAX_LENGTH = 64
const CLOCK = /^\s*([+-]?)(\d{1,10}):([0-5]\d)(?::([0-5]\d)(?:[.,](\d{1,3})(\d*))?)?\s*$/

/**
 * The only parser of times of day and durations: `8:30`, `08:30:00`, `-100:00:00.5`, `08:30:00,25`, with any number of hours. Digits after
 * the milliseconds are cut towards minus infinity, as databases do.
 *
 * @returns milliseconds, or undefined if the text as a whole is not such a time
 */
export function parseClock(text: string): number | undefined {
  if (text.length > MAX_LENGTH) return undefined
  const [, sign, hours, minutes, seconds = 0, thousandths = '', smaller = ''] = CLOCK.exec(text) ?? []
  if (hours === undefined) return undefined
  const wholeMs = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000
  const ms = wholeMs + (thousandths === '' ? 0 : Number(thousandths.padEnd(3, '0')))
  return sign === '-' ? 0 - ms - (/[1-9]/.test(smaller) ? 1 : 0) : ms
}
