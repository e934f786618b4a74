const PEM = `-----BEGIN FAKE KEY-----
MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj
MzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SC6dVMvDuictGeurT8jNbvJZHtCSuYEvu
Hg==
-----END FAKE KEY-----`

/** Secrets that are hard to hide: with quotes, escapes, line breaks, special characters of expressions and replacements. */
export const nastySecrets: readonly string[] = [
  'geheim-0001',
  `it's-single`,
  'say-"double"',
  `both-'single'-and-"double"`,
  'back`tick-$(value)',
  `all-'of'-"the"-\`quotes\``,
  '^.*(a|b)+$[x]{2,}?\\d',
  '(?<name>x)',
  '[unclosed-class',
  "in $& out $1 $` $' $$ $<n>",
  'back\\slash\\n\\t',
  'ends-with-backslash\\',
  '\\\\begins-with-two',
  '\\u0041-escaped',
  'n-after-a-break',
  '001b-within-an-escape',
  'first line\nsecond line\nab',
  'windows\r\nline-breaks\r\n',
  PEM,
  'tab\tand\u0001control\u001b[31m',
  'schlüssel-größe',
  '🔑-key-🔒',
  'e\u0301-combining-\u200b-\u202e',
  '\u2028separators\u2029',
  'percent%41%2Fencoded',
  'a+b/c==d&e=f?g#h',
  '?>?>?>~~~???',
  'with spaces in it',
  '  around it  ',
  '</script><b>x</b>&amp;',
  '{"json":"text","n":[1,2]}',
  '%s-%d-%j-%o-%c',
  '__proto__',
  'substring-of',
  'the-substring-of-another',
  'overlap-begin-ABCDEFGH',
  'ABCDEFGH-overlap-end',
  '90210447711',
  'postgres://ada:pa%2Fss%20w%C3%B6rd@db.example/x?sslmode=require',
  'x-y-'.repeat(5_000),
]
