/** Names and texts in TypeScript that is generated. */

/** The name, in quotes unless it is an identifier. */
export const nameText = (name: string): string => (isIdentifier(name) ? name : stringText(name))
export const stringText = (text: string): string => `'${JSON.stringify(text).slice(1, -1).replaceAll("'", "\\'")}'`
export const isIdentifier = (name: string): boolean => IDENTIFIER.test(name)
/** A doc comment in front of a member. */
export const commentOf = (text: string | undefined): string =>
  text === undefined ? '' : `/** ${text.replace(/\s+/g, ' ').replaceAll('*/', '* /')} */\n`

const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u
