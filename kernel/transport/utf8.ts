/** The text that was sent, from one that holds a character for each of its bytes, as parsers of HTTP heads give it. */
export function utf8(text: string): string {
  return /[\x80-\xff]/.test(text) ? Buffer.from(text, 'latin1').toString('utf8') : text
}
