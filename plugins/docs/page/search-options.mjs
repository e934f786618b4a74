/** Words of questions that say nothing about the answer. */
const STOP_WORDS = new Set(
  'an and are at be by can could do does for from get how in into is it its me my of on or should some that the there this to use using want was what when where which who why will with would you your'.split(
    ' ',
  ),
)

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
  searchOptions: { prefix: true, fuzzy: 0.15, combineWith: 'AND', boost: { title: 3, page: 2 } },
}
