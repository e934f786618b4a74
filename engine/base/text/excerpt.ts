const EXCERPT_LENGTH = 80

/** Start of a text from a client, which may have any length, so that a message stays readable. */
export const excerpt = (text: string): string =>
  text.length <= EXCERPT_LENGTH ? text : `${text.slice(0, EXCERPT_LENGTH).toWellFormed()}…`
