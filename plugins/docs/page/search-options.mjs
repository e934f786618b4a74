/** Words of questions that say nothing about the answer. */
const STOP_WORDS = new Set(
  'an and are at be by can could do does for from get how in into is it its me my of on or should some that the there this to use using want was what when where which who why will with would you your'.split(
    ' ',
  ),
)

/** Pages about the inside of Tesser, its past and its examples: found after those of the manual. */
const INSIDE = /^(?:decisions|bench|plugins)\/|^(?:ARCHITECTURE|CHANGELOG|CONTRIBUTING)\./
const INSIDE_BOOST = 0.3

/** A word without the ending of its plural: `backups` finds `backup`, `entities` finds `entity`. */
const stemOf = word =>
  word
    .toLowerCase()
    .replace(/^([a-z]{2,})ies$/, '$1y')
    .replace(/^(?!https$)([a-z]{2,}[^aisu])s$/, '$1')

/** Options for building the index and for searching it in the browser, which must agree. */
export const SEARCH = {
  fields: ['title', 'page', 'text'],
  storeFields: ['title', 'page', 'excerpt'],
  // `$filter` and `server.maxConnections` are indexed whole, and so are their parts.
  tokenize: text =>
    text
      .split(/[\s,;:!?"'(){}[\]<>=|&/…]+/)
      .flatMap(word => [word, ...word.split(/[.$_-]+/)])
      .filter(word => word.length > 1 && !STOP_WORDS.has(word.toLowerCase())),
  processTerm: stemOf,
  searchOptions: {
    prefix: true,
    // In a short word, one other letter makes another word: `sort` is not `port`.
    fuzzy: term => (term.length > 4 ? 0.15 : false),
    combineWith: 'AND',
    boost: { title: 3, page: 2 },
    boostDocument: id => (INSIDE.test(id) ? INSIDE_BOOST : 1),
  },
}
