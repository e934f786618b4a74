import { Type } from '@sinclair/typebox'
import { type BinaryAttribute, ByteCache, type Promised, readWhole, type StoredBinary } from '../../engine/index.ts'
import {
  type Conditions,
  conditionsOf,
  definePlugin,
  isCurrent,
  partOf,
  type Reply,
  type RestRequest,
  type CommandSpec,
  type ParameterSpec,
} from '../../kernel/api.ts'
import { cacheControl, entityTag } from './caching.ts'
import { Converter } from './converter.ts'
import { conversionOf, type Variant, variantOf } from './variant.ts'

/**
 * `$imageformat` and `$binary`: the bytes of an image or a blob.
 *
 *   GET /Country(FR)/flag?$imageformat=best&$version=1&$expand=flag
 *   GET /Country(FR)/flag?$imageformat=png&$width=64&$height=64
 *   GET /Company(1)/contract?$binary=true&$expand=contract
 *
 * Formats are `best`, `png`, `jpeg`, `gif`, `tiff` and `webp`. `best` is the stored image if browsers can show it, else PNG.
 * Any format other than the stored one requires sharp to be installed; when there is nothing to show, the body is empty.
 * `$width` and `$height` (an extension) bound the sides; proportions are kept and nothing is enlarged. `$version` is a
 * cache key: with the stamp of the entity, an answer may be cached for a year. `Range`, `If-Range` and `If-None-Match`
 * work. Without these parameters the attribute is a deferred link, as in any other answer.
 * Source: base specification, 4.2; protocol notes, 10.2 and 10.3; RFC 9110, 13 and 14.
 */
export default definePlugin({
  name: 'binary',
  kernel: '^1.0.0',
  options: Type.Object({
    maxPixels: Type.Integer({
      default: 50_000_000,
      minimum: 1,
      description: 'Maximum number of pixels of an image to convert.',
    }),
    maxInputBytes: Type.Integer({
      default: 2 ** 26,
      minimum: 1,
      description: 'Maximum size in bytes of an image to convert.',
    }),
    maxSide: Type.Integer({ default: 4_096, minimum: 1, description: 'Maximum of `$width` and `$height`.' }),
    maxConcurrent: Type.Integer({
      default: 2,
      minimum: 1,
      description: 'Maximum number of images that are converted at the same time.',
    }),
    queueLimit: Type.Integer({
      default: 200,
      minimum: 1,
      description: 'Maximum number of images that wait for conversion; beyond it the server answers 503.',
    }),
    timeoutMs: Type.Integer({ default: 10_000, minimum: 1, description: 'Maximum time for a conversion.' }),
    cacheBytes: Type.Integer({ default: 2 ** 26, minimum: 0, description: 'Memory for converted images.' }),
  }),
  register({ command, engine, onClose, parameter }, { maxInputBytes, maxSide, cacheBytes, ...limits }) {
    for (const [name, spec] of PARAMETERS) parameter(name, spec)
    const converter = new Converter(new URL('./convert.child.js', import.meta.url), limits)
    onClose(() => converter.close())
    const convertedImages = new ByteCache(cacheBytes)

    command('$imageformat', IMAGE_FORMAT, request => answer(request, variantOf(request, maxSide)))
    command('$binary', BINARY, request => (request.flag('$binary') ? answer(request, undefined) : undefined))

    const answer = (request: RestRequest, variant: Variant | undefined): Promised<Reply> | undefined => {
      const attribute = engine.binaries.addressed(request.read)
      if (!attribute) return undefined
      const conditions = conditionsOf(request)
      const version = request.parameters.get('$version')
      const find = (): Promised<StoredBinary | null> => engine.binaries.find(request.read, attribute, request.transport)
      /**
       * @param before value of the previous attempt, whose file was missing: a value can be replaced between finding it and opening its
       * file
       */
      const attempt = (before?: StoredBinary): Promised<Reply> =>
        then(find(), foundBinary => {
          if (!foundBinary) return EMPTY
          if (before && before.id === foundBinary.id) throw engine.binaries.missing(foundBinary)
          return then(
            show(foundBinary, attribute, variant, conditions, version),
            reply => reply ?? attempt(foundBinary),
          )
        })
      return attempt()
    }

    const show = (
      binary: StoredBinary,
      attribute: BinaryAttribute,
      variant: Variant | undefined,
      conditions: Conditions,
      version: string | undefined,
    ): Promised<Reply | undefined> => {
      const { mediaType, size } = binary.value
      const isImage = attribute.type === 'image' && mediaType.startsWith('image/')
      const conversion = isImage && variant ? conversionOf(variant, mediaType) : undefined
      const name = conversion && [conversion, variant?.width, variant?.height].join('-')
      const tag = entityTag(binary, name ?? '')
      const headers = { ...BYTES, ETag: tag, 'Cache-Control': cacheControl(binary, version) }
      if (isCurrent(conditions, tag)) return { status: 304, headers, body: '' }
      const replyWithStored = (): Promised<Reply | undefined> => {
        const type = isImage ? mediaType : BYTES['Content-Type']
        const open = (start: number, end: number) => engine.binaries.open(binary, start, end)
        return partOf({ headers, mediaType: type, tag, size, open }, conditions)
      }
      if (conversion === undefined) return replyWithStored()
      if (conversion === 'impossible' || size > maxInputBytes) return EMPTY
      const image = binary.id
      const result = convertedImages.get(`${image} ${name}`, () =>
        converter.convert({ ...variant!, image, format: conversion, load: () => bytesOf(binary) }),
      )
      const orGone = result instanceof Promise ? result.catch(unlessGone) : result
      return then(orGone, bytes => {
        if (!bytes) return undefined
        if (bytes.length > 0) {
          const open = (start: number, end: number) => bytes.slice(start, end)
          return partOf({ headers, mediaType: `image/${conversion}`, tag, size: bytes.length, open }, conditions)
        }
        // The stored image is better than nothing for clients that can show it.
        return variant!.format === 'best' ? replyWithStored() : EMPTY
      })
    }

    /** @throws {Gone} when the file is missing */
    const bytesOf = async (storedBinary: StoredBinary): Promise<Uint8Array> => {
      const source = await engine.binaries.open(storedBinary)
      if (!source) throw new Gone()
      return readWhole(source)
    }
  },
})

/** The file of a value is missing. */
class Gone extends Error {}

function unlessGone(error: unknown): undefined {
  if (!(error instanceof Gone)) throw error
}

/** The server adds the headers that keep browsers from guessing the type of stored bytes and from running them. */
const BYTES = { 'Content-Type': 'application/octet-stream' }

const EMPTY: Reply = { status: 200, headers: { ...BYTES, 'Cache-Control': 'private, no-cache' }, body: '' }

const then = <T, R>(value: Promised<T>, next: (value: T) => Promised<R>): Promised<R> =>
  value instanceof Promise ? value.then(next) : next(value)

const IMAGE_FORMAT: CommandSpec = {
  verbs: ['GET'],
  schema: { type: 'string', enum: ['best', 'png', 'jpeg', 'gif', 'tiff', 'webp'] },
  doc: 'Returns the bytes of an image, in this format.',
  example: 'best',
  on: ['image'],
  required: true,
  section: '4.2',
}
const BINARY: CommandSpec = {
  verbs: ['GET'],
  schema: { type: 'boolean', const: true },
  doc: 'Returns the bytes of a blob.',
  example: true,
  on: ['blob'],
  required: true,
  section: '4.2',
}
const side = (doc: string): ParameterSpec => ({
  schema: { type: 'integer', minimum: 1 },
  doc,
  example: 64,
  on: ['image'],
})
const PARAMETERS: readonly (readonly [`$${string}`, ParameterSpec])[] = [
  ['$width', side('Maximum width of the image, in pixels.')],
  ['$height', side('Maximum height of the image, in pixels.')],
  [
    '$version',
    {
      schema: { type: 'string' },
      doc: 'Key for caches: with the current stamp, the answer may be cached for a year.',
      example: '1',
      on: ['image', 'blob'],
      section: '4.2',
    },
  ],
]
