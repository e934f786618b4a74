import { language, number } from './texts.ts'

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const

/** Formats a size: `1.2 GB`. */
export function bytes(value: number): string {
  const power = value < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(value) / 3))
  return number(value / 1000 ** power, { style: 'unit', unit: UNITS[power]!, maximumFractionDigits: power && 1 })
}

/** Formats a time of the server in the language of the page. */
export const time = (iso: string): string =>
  new Date(iso).toLocaleString(language.value, { dateStyle: 'short', timeStyle: 'medium' })
