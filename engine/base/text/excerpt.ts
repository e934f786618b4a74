const EXCERPT_LENGTH = 80

/** Start of a text from a client, who decides how long it is: a message has to stay readable. */
export const excerpt = (text: string): string =>
  text.length <= EXCERPT_LENGTH ? text : `${text.slice(0, EXCERPT_LENGTH).toWellFormed()}…`
