import { isBinary, type StorageAttribute } from '../../catalog/attribute.ts'
import { BinaryValue } from '../../catalog/value.ts'
import type { ProtocolError } from '../../base/errors.ts'
import { isJsonObject } from '../../base/json-object.ts'
import type { SaveContext } from './entity-change.ts'
import { describe, WriteErrors } from '../contract/write-errors.ts'

type AttachContext = Pick<SaveContext, 'transaction' | 'uploads' | 'received'>

/** The id in `{"ID":…}`, if that is sent for an image or a blob. */
export function uploadId(attribute: StorageAttribute, json: unknown): { id: unknown } | undefined {
  return isBinary(attribute.type) && isJsonObject(json) && Object.hasOwn(json, 'ID') ? { id: json.ID } : undefined
}

/**
 * The bytes of an upload as a value of `attribute`, or an error. An upload of another session is treated as missing. Uploads stay
 * until they expire, so they can be attached again.
 * Source: base specification, 2.9; protocol notes, 10.1.
 */
export function attachUpload(
  context: AttachContext,
  attribute: StorageAttribute,
  { id }: { id: unknown },
): BinaryValue | ProtocolError {
  const value = typeof id === 'string' ? find(context, id) : undefined
  const isImage = attribute.type === 'image'
  if (!value) return (isImage ? WriteErrors.MISSING_PICTURE : WriteErrors.MISSING_BLOB)(attribute.name, describe(id))
  if (!isImage) return new BinaryValue('application/octet-stream', value.content)
  return value.mediaType.startsWith('image/') ? value : WriteErrors.NOT_A_PICTURE(attribute.name, value.mediaType)
}

function find({ transaction, uploads, received }: AttachContext, id: string): BinaryValue | undefined {
  if (received?.id === id) return transaction.decodeBinary(received.value)
  const upload = uploads && transaction.upload(id.toUpperCase())
  if (!upload || upload.expires <= uploads.now) return undefined
  const { owner } = upload
  const isTheirs = owner.handle === uploads.owner.handle || (owner.isNew && uploads.owner.isNew)
  return isTheirs ? upload.value : undefined
}
