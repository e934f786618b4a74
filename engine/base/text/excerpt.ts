const EXCERPT_LENGTH = 80

/** The start of what a client sent: it decides how long a name or a value is, a message has to stay readable. */
export const excerpt = (text: string): string =>
  text.length <= EXCERPT_LENGTH ? text : `${text.slice(0, EXCERPT_LENGTH).toWellFormed()}…`
