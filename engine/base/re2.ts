import type { RE2JS } from 're2js'

/**
 * A regular expression of RE2, which takes linear time for every text.
 * @throws {Error} saying why `pattern` is none
 */
export const compileRe2 = (pattern: string): RE2JS => {
  // Tables of 270 KB, which take 25 ms to make: the bundler has them made here, by the first pattern of a thread.
  const module: typeof import('re2js') = require('re2js')
  return module.RE2JS.compile(pattern)
}
