/** Instants such as `2026-11-23T17:20:05.120Z`, and the local times at which they are shown and typed. */

const TIME = /^([+-]?\d{4,6}-\d\d-\d\d)[T ]\d\d:\d\d[\d:.]*(Z|[+-]\d\d:\d\d)?$/

/** True for a time with its zone. */
export const isInstant = (text: string): boolean => !!TIME.exec(text)?.[2] && !Number.isNaN(Date.parse(text))

/** The local time of an instant; other texts as they are. */
export const localTime = (text: string): string =>
  isInstant(text) ? new Date(clockOf(new Date(text))).toISOString().slice(0, -1) : text

/**
 * The instant of a local time; in an hour that clocks repeat, the instant with the offset of `near`.
 * @returns the text itself unless it is a local time that clocks show
 */
export function instantOf(text: string, near = ''): string {
  const [, day, zone] = TIME.exec(text) ?? []
  if (!day || zone) return text
  const local = text.replace(' ', 'T')
  const clock = Date.parse(`${local}Z`)
  const nearby = new Date(near || local)
  const milliseconds = [clock - clockOf(nearby) + nearby.getTime(), Date.parse(local)].find(
    // Browsers treat 30 February as a day in March.
    ms => clockOf(new Date(ms)) === clock && new Date(clock).toISOString().startsWith(day),
  )
  return milliseconds === undefined ? text : new Date(milliseconds).toISOString()
}

/** Time of local clocks in milliseconds, as if it were UTC; offsets of the past have seconds. */
function clockOf(date: Date): number {
  const clock = new Date(0)
  clock.setUTCFullYear(date.getFullYear(), date.getMonth(), date.getDate())
  return clock.setUTCHours(date.getHours(), date.getMinutes(), date.getSeconds(), date.getMilliseconds())
}
