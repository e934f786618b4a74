import { schemas } from '../../base/json-schema.ts'
import { BinaryValue } from '../value.ts'
import { Mismatch, type TypeDescriptor } from './descriptor.ts'

/** Bytes, to which a row only links. */
const binary = (name: string, defaultMediaType: string): TypeDescriptor => ({
  catalogName: () => name,
  options: [],
  autoFill: [],
  cell: 'presence',
  aggregates: 'opaque',
  code: { value: 'Binary', assigned: 'Binary | Uint8Array' },
  field: 'text',
  jsonSchemas: () => schemas({ type: 'object' }),
  convert(json, _, trusted) {
    if (!trusted || typeof json !== 'string') return new Mismatch('{"ID":…} of an upload, or null,')
    return readDataUrl(json, defaultMediaType) ?? new Mismatch('a data URL such as "data:image/png;base64,…"')
  },
  holds: value => value === true,
  encode: value => JSON.stringify(value),
  toCode: value => value,
  decode: () => true,
})

export const image = binary('image', 'image/png')
export const blob = binary('blob', 'application/octet-stream')

/** Source: RFC 2397. */
function readDataUrl(url: string, defaultMediaType: string): BinaryValue | undefined {
  const comma = url.slice(0, 300).indexOf(',')
  if (comma < 0 || !url.startsWith('data:')) return undefined
  const [mediaType, ...parameters] = url.slice('data:'.length, comma).split(';')
  if (mediaType!.length >= 0x80) return undefined
  try {
    const data = url.slice(comma + 1)
    const bytes = parameters.includes('base64') ? Buffer.from(data, 'base64') : Buffer.from(decodeURIComponent(data))
    return new BinaryValue(mediaType || defaultMediaType, bytes)
  } catch (error) {
    // A broken percent escape.
    if (error instanceof URIError) return undefined
    throw error
  }
}
