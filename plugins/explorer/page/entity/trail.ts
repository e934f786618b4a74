/** The entities that the panel has been led through: the one that the address names, and those that relations led to from there. */
export interface Step {
  readonly dataClass: string
  readonly key: string
}

/** More of them make no sense to a reader, and addresses longer. */
const MAX_STEPS = 12

/** `Country/FR;Region/western-europe` as in the address. What cannot be read is left out. */
export const readTrail = (text = ''): readonly Step[] =>
  text.split(';').flatMap(part => {
    const [dataClass = '', key = ''] = part.split('/').map(decoded)
    return dataClass && key ? [{ dataClass, key }] : []
  })

/** The last steps, as text for the address. */
export const writeTrail = (steps: readonly Step[]): string =>
  steps
    .slice(-MAX_STEPS)
    .map(({ dataClass, key }) => `${encodeURIComponent(dataClass)}/${encodeURIComponent(key)}`)
    .join(';')

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}
