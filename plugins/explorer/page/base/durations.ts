/** Durations in milliseconds as clocks: `1:05:09`, `-0:00:01.250`. Both directions work on digits, so that none is lost. */

/** @param milliseconds a number, or its text; one that is too long or too short for a clock is shown as it is */
export function durationText(milliseconds: number | string): string {
  const [, sign = '', digits = '', finer = ''] = /^(-?)(\d{1,15})(?:\.(\d+))?$/.exec(String(milliseconds)) ?? []
  if (digits === '') return String(milliseconds)
  const wholeMilliseconds = Number(digits)
  const two = (count: number): string => String(Math.floor(count) % 60).padStart(2, '0')
  const fraction =
    wholeMilliseconds % 1000 > 0 || finer ? `.${String(wholeMilliseconds % 1000).padStart(3, '0')}${finer}` : ''
  return `${sign}${Math.floor(wholeMilliseconds / 3_600_000)}:${two(wholeMilliseconds / 60_000)}:${two(wholeMilliseconds / 1000)}${fraction}`
}

/** Reads `8:30`, `1:05:09` or `1:05:09.250`. @returns milliseconds as JSON */
export function readDuration(text: string): string | undefined {
  const parts = /^([-−]?)(\d{1,9}):([0-5]?\d)(?::([0-5]?\d)(?:[.,](\d+))?)?$/.exec(text)
  if (!parts) return undefined
  const [, sign, hours, minutes, seconds = '0', fraction = ''] = parts
  const total = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)
  const wholeMilliseconds = total * 1000 + Number(fraction.slice(0, 3).padEnd(3, '0'))
  const finer = fraction.slice(3).replace(/0+$/, '')
  return `${sign && (wholeMilliseconds > 0 || finer) ? '-' : ''}${wholeMilliseconds}${finer && `.${finer}`}`
}
