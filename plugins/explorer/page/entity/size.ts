import { number } from '../base/texts.ts'

/** A number of bytes as people read it. */
export const bytes = (count: number): string =>
  number(count, { style: 'unit', unit: 'byte', notation: 'compact', unitDisplay: 'narrow' })
