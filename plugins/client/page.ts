/** The file `client.js`, for pages without a build: the runtime with the schema of a model, which the server inserts. */
import { type Client, connect } from './runtime/client.ts'
import type { ClientOptions } from './runtime/connection.ts'
import type { Schema } from './runtime/convert.ts'
import type { Environment } from './runtime/functions.ts'

export { imageUrl } from './runtime/client.ts'
export { BatchError, ConflictError, TesserError, ValidationError } from './runtime/errors.ts'

declare const TESSER_SCHEMA: Schema

/** Creates a client of the server that has sent this file, or of the one at `url`. */
export const createClient = (url?: string | URL, options?: ClientOptions): Client<Environment> =>
  connect(url ?? new URL('..', import.meta.url), TESSER_SCHEMA, options)
