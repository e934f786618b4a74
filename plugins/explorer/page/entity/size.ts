import { number } from '../base/texts.ts'

/** Formats a number of bytes. */
export const bytes = (count: number): string =>
  number(count, { style: 'unit', unit: 'byte', notation: 'compact', unitDisplay: 'narrow' })
