/** A time of any number of hours, as `read-clock.ts` reads it: `08:30:00`, `-130:00:00.250`. @param ms whole milliseconds */
export function clockText(ms: number): string {
  const duration = Math.abs(ms)
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0')
  const thousandths = duration % 1000 === 0 ? '' : `.${String(duration % 1000).padStart(3, '0')}`
  return `${ms < 0 ? '-' : ''}${two(duration / 3_600_000)}:${two((duration / 60_000) % 60)}:${two((duration / 1000) % 60)}${thousandths}`
}
