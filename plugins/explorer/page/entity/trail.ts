/** Entities that the panel has shown one after the other: the entity in the address, and entities reached from it over relations. */
export interface Step {
  readonly dataClass: string
  readonly key: string
}

/** Maximum length; more steps would not help readers, and would make addresses longer. */
const MAX_STEPS = 12

/** Parses the trail of the address: `Country/FR;Region/western-europe`. Unreadable parts are left out. */
export const readTrail = (text = ''): readonly Step[] =>
  text.split(';').flatMap(part => {
    const [dataClass = '', key = ''] = part.split('/').map(decode)
    return dataClass && key ? [{ dataClass, key }] : []
  })

/** Text of the last steps for the address. */
export const writeTrail = (steps: readonly Step[]): string =>
  steps
    .slice(-MAX_STEPS)
    .map(({ dataClass, key }) => `${encodeURIComponent(dataClass)}/${encodeURIComponent(key)}`)
    .join(';')

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}
