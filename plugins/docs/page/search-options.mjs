/** Options for building the index and for searching it in the browser, which must agree. */
export const SEARCH = {
  fields: ['title', 'page', 'text'],
  storeFields: ['title', 'page', 'excerpt'],
  // `$filter` and `server.maxConnections` are indexed whole, and so are their parts.
  tokenize: text =>
    text
      .split(/[\s,;:!?"'(){}[\]<>=|&/…]+/)
      .flatMap(word => [word, ...word.split(/[.$_-]+/)])
      .filter(word => word.length > 1),
  searchOptions: { prefix: true, fuzzy: 0.15, combineWith: 'AND', boost: { title: 3, page: 2 } },
}
