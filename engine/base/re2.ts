import type { RE2JS } from 're2js'

/**
 * Compiles a regular expression with RE2, which takes linear time for every text.
 * @throws {Error} saying why `pattern` is invalid
 */
export const compileRe2 = (pattern: string): RE2JS => {
  // Creating its tables of 270 KB takes 25 ms: the bundler defers that to the first pattern of a thread.
  const module: typeof import('re2js') = require('re2js')
  return module.RE2JS.compile(pattern)
}
