import { Type } from '@sinclair/typebox'
import { type BinaryAttribute, ByteCache, type Promised, type StoredBinary } from '../../engine/index.ts'
import { definePlugin, type Reply, type RestRequest } from '../../kernel/api.ts'
import { cacheControl, type Conditions, conditionsOf, entityTag, isCurrent, rangeOf } from './conditions.ts'
import { Converter } from './converter.ts'
import { conversionOf, type Variant, variantOf } from './variant.ts'

/**
 * `$imageformat` and `$binary`: the bytes of an image or a blob.
 *
 *   GET /Country(FR)/flag?$imageformat=best&$version=1&$expand=flag
 *   GET /Country(FR)/flag?$imageformat=png&$width=64&$height=64
 *   GET /Company(1)/contract?$binary=true&$expand=contract
 *
 * Formats are `best`, `png`, `jpeg`, `gif`, `tiff` and `webp`. `best` is the stored image if browsers show such, else PNG.
 * Another format than the stored one takes sharp, if it is installed; where there is nothing to show the body is empty.
 * `$width` and `$height` (an extension) bound the sides, with the proportions kept and nothing enlarged. `$version` is a
 * key for caches: with the stamp of the entity an answer may be kept for a year. `Range`, `If-Range` and `If-None-Match`
 * work. Without these parameters the attribute is a deferred link, as in any other answer.
 * Source: base specification, 4.2; protocol notes, 10.2 and 10.3; RFC 9110, 13 and 14.
 */
export default definePlugin({
  name: 'binary',
  kernel: '^1.0.0',
  options: Type.Object({
    maxPixels: Type.Integer({ default: 50_000_000, minimum: 1, description: 'Of an image that is converted.' }),
    maxInputBytes: Type.Integer({ default: 2 ** 26, minimum: 1, description: 'The same in bytes.' }),
    maxSide: Type.Integer({ default: 4_096, minimum: 1, description: 'Greatest $width and $height.' }),
    maxConcurrent: Type.Integer({ default: 2, minimum: 1, description: 'Images that are converted at a time.' }),
    queueLimit: Type.Integer({ default: 200, minimum: 1, description: 'Images that wait for that; beyond it 503.' }),
    timeoutMs: Type.Integer({ default: 10_000, minimum: 1, description: 'Time for a conversion.' }),
    cacheBytes: Type.Integer({ default: 2 ** 26, minimum: 0, description: 'Memory for converted images.' }),
  }),
  register({ command, engine, onClose }, { maxInputBytes, maxSide, cacheBytes, ...limits }) {
    const converter = new Converter(new URL('./convert.child.js', import.meta.url), limits)
    onClose(() => converter.close())
    const converted = new ByteCache(cacheBytes)

    command('$imageformat', { verbs: ['GET'] }, request => answer(request, variantOf(request, maxSide)))
    command('$binary', { verbs: ['GET'] }, request =>
      request.flag('$binary') ? answer(request, undefined) : undefined,
    )

    const answer = (request: RestRequest, variant: Variant | undefined): Promised<Reply> | undefined => {
      const attribute = engine.binaries.addressed(request.read)
      if (!attribute) return undefined
      const conditions = conditionsOf(request)
      const find = (): Promised<StoredBinary | null> => engine.binaries.find(request.read, attribute, request.transport)
      const reply = (found: StoredBinary | null): Promised<Reply | undefined> =>
        found ? show(found, attribute, variant, conditions) : EMPTY
      // It can be replaced between finding it and opening its file.
      const first = then(find(), reply)
      return then(first, shown => shown ?? then(find(), again => then(reply(again), second => second ?? EMPTY)))
    }

    const show = (
      found: StoredBinary,
      attribute: BinaryAttribute,
      variant: Variant | undefined,
      conditions: Conditions,
    ): Promised<Reply | undefined> => {
      const { mediaType, size } = found.value
      const isImage = attribute.type === 'image' && mediaType.startsWith('image/')
      const conversion = isImage && variant ? conversionOf(variant, mediaType) : undefined
      const name = conversion && [conversion, variant?.width, variant?.height].join('-')
      const tag = entityTag(found, name ?? '')
      const headers = { ...BYTES, ETag: tag, 'Cache-Control': cacheControl(found, conditions) }
      if (isCurrent(conditions, tag)) return { status: 304, headers, body: '' }
      const stored = () => {
        const type = isImage ? mediaType : BYTES['Content-Type']
        return part(headers, type, size, conditions, tag, (start, end) => engine.binaries.open(found.value, start, end))
      }
      if (conversion === undefined) return stored()
      if (conversion === 'impossible' || size > maxInputBytes) return EMPTY
      const made = converted.get(`${found.globalStamp} ${attribute.name} ${name}`, () =>
        converter.convert({ ...variant!, format: conversion, load: () => bytesOf(found) }),
      )
      return then(made, bytes => {
        if (bytes.length > 0) {
          return part(headers, `image/${conversion}`, bytes.length, conditions, tag, (start, end) =>
            bytes.slice(start, end),
          )
        }
        // Better than nothing, for whoever can show it.
        return variant!.format === 'best' ? stored() : EMPTY
      })
    }

    /** None when the image has been replaced meanwhile, of which nothing can be made. */
    const bytesOf = async ({ value }: StoredBinary): Promise<Uint8Array> => {
      const source = engine.binaries.open(value)
      if (!source) return new Uint8Array(0)
      try {
        const bytes = new Uint8Array(source.size)
        for (let at = 0; at < bytes.length; ) {
          const piece = await source.read(at)
          bytes.set(piece, at)
          at += piece.length
        }
        return bytes
      } finally {
        source.close()
      }
    }
  },
})

/** All of a value or the part that is asked for; undefined when its bytes are gone. */
function part(
  headers: Record<string, string>,
  mediaType: string,
  size: number,
  conditions: Conditions,
  tag: string,
  open: (start: number, end: number) => Reply['body'] | undefined,
): Reply | undefined {
  const range = rangeOf(conditions, tag, size)
  if (range === 'unsatisfiable') {
    return { status: 416, headers: { ...headers, 'Content-Range': `bytes */${size}` }, body: '' }
  }
  const { start, end } = range ?? { start: 0, end: size }
  const body = open(start, end)
  if (body === undefined) return undefined
  const shown = { ...headers, 'Content-Type': mediaType, 'Accept-Ranges': 'bytes' }
  if (!range) return { status: 200, headers: shown, body }
  return { status: 206, headers: { ...shown, 'Content-Range': `bytes ${start}-${end - 1}/${size}` }, body }
}

/** Stored bytes come from clients: a browser must neither guess their type nor run them (an SVG can hold scripts). */
const BYTES = {
  'Content-Type': 'application/octet-stream',
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
}

const EMPTY: Reply = { status: 200, headers: { ...BYTES, 'Cache-Control': 'private, no-cache' }, body: '' }

const then = <T, R>(value: Promised<T>, next: (value: T) => Promised<R>): Promised<R> =>
  value instanceof Promise ? value.then(next) : next(value)
