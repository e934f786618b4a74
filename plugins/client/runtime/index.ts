/** `tesser/client`: the runtime of clients as a module, for files that `tesser client --module` writes. */
export {
  type Client,
  connect,
  type ImageOptions,
  imageUrl,
  type UploadOptions,
  type User,
  type Whoami,
} from './client.ts'
export type { ClientOptions, RequestOptions } from './connection.ts'
export type { Kind, Schema } from './convert.ts'
export type { Changed, Created, DataClass, EntityHandle, LockOutcome, Saved } from './dataclass.ts'
export { BatchError, ConflictError, type ErrorKind, type Fault, TesserError, ValidationError } from './errors.ts'
export type {
  Declared,
  EntityArgument,
  EntityResult,
  Environment,
  SelectionArgument,
  SelectionResult,
  StreamResult,
} from './functions.ts'
export type { EntitySet, EntitySetOptions, Query } from './query.ts'
export type {
  BinaryLink,
  Checked,
  Json,
  Order,
  Page,
  Path,
  QueryValue,
  Reference,
  Relation,
  Row,
  Shape,
  Similar,
  Upload,
  ValueAt,
} from './types.ts'
