/** Names and texts in the source of a client. */

/** The name, in quotes unless it is an identifier. */
export const nameText = (name: string): string => (IDENTIFIER.test(name) ? name : stringText(name))
export const stringText = (text: string): string => `'${JSON.stringify(text).slice(1, -1).replaceAll("'", "\\'")}'`
export const isIdentifier = (name: string): boolean => IDENTIFIER.test(name)
/** A union of types; `never` if there are none. */
export const unionOf = (types: readonly string[]): string => [...new Set(types)].join(' | ') || 'never'
/** `{ a: A; b: B }` over several lines. */
export function block(members: readonly string[]): string {
  if (members.length === 0) return '{}'
  return `{\n${members.flatMap(member => member.split('\n').map(line => `  ${line}\n`)).join('')}}`
}
/** A doc comment in front of a member. */
export const commentOf = (text: string | undefined): string =>
  text === undefined ? '' : `/** ${text.replace(/\s+/g, ' ').replaceAll('*/', '* /')} */\n`

const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u
