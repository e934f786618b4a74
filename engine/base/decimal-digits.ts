const NUMBER = /^\s*([-+]?)(\d*)(?:\.(\d*))?(?:e([-+]?\d+))?\s*$/i

/** A number without zeros at its ends. */
interface Digits {
  readonly digits: string
  readonly places: number
}

const ZERO: Digits = { digits: '0', places: Number.NEGATIVE_INFINITY }

/** @returns undefined if it is not a finite number */
export function digitsOf(text: string): Digits | undefined {
  const [, sign, integerPart = '', fraction = '', exponent = '0'] = NUMBER.exec(text) ?? []
  if (sign === undefined || (integerPart === '' && fraction === '')) return undefined
  const all = (integerPart + fraction).replace(/^0+/, '')
  const digits = withoutZeros(all)
  if (digits === '') return ZERO
  return {
    digits: (sign === '-' ? '-' : '') + digits,
    places: fraction.length - Number(exponent) - (all.length - digits.length),
  }
}

/** Removes trailing zeros. A regular expression would examine each of them many times. */
export function withoutZeros(digits: string): string {
  let end = digits.length
  while (digits[end - 1] === '0') end--
  return digits.slice(0, end)
}

/** True if two texts are the same finite number. */
export function isSameNumber(one: string, other: string): boolean {
  const [a, b] = [digitsOf(one), digitsOf(other)]
  return a !== undefined && b !== undefined && a.digits === b.digits && a.places === b.places
}

/** Significant digits of a number without its sign, and their power of ten, as `125e-2` or empty for zero: the same text for equal numbers. */
export function significant(number: string): string {
  const { digits, places } = digitsOf(number) ?? ZERO
  return digits === ZERO.digits ? '' : `${digits.replace('-', '')}e${-places}`
}
