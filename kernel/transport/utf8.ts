/** Decodes a string with one character for each byte of UTF-8, as parsers of HTTP heads return it. */
export function utf8(text: string): string {
  return /[\x80-\xff]/.test(text) ? Buffer.from(text, 'latin1').toString('utf8') : text
}
