import type { RestRequest } from '../../kernel/api.ts'
import { BinaryRequestErrors } from './errors.ts'

/** The requested form of an image. */
export interface Variant {
  /** `best`, or the subtype of `image/…`. */
  readonly format: string
  /** Maximum sides in pixels. */
  readonly width: number | undefined
  readonly height: number | undefined
}

const ALIASES: Readonly<Record<string, string>> = { jpg: 'jpeg', tif: 'tiff' }
/** Formats that browsers show. */
const WEB_FORMATS = new Set(['png', 'jpeg', 'gif', 'webp', 'avif', 'svg+xml', 'bmp', 'x-icon'])
/** Formats that an image can be converted to. */
const OUTPUT_FORMATS = ['png', 'jpeg', 'gif', 'tiff', 'webp'] as const
export type OutputFormat = (typeof OUTPUT_FORMATS)[number]

/** @throws {BinaryRequestErrors.SIDE} */
export function variantOf(request: RestRequest, maxSide: number): Variant {
  const format = request.parameter('$imageformat')!.toLowerCase()
  const side = (parameter: string): number | undefined => {
    const text = request.parameter(parameter)
    if (text === undefined) return undefined
    const pixels = /^\d{1,6}$/.test(text) ? Number(text) : 0
    if (pixels < 1 || pixels > maxSide) throw BinaryRequestErrors.SIDE(parameter, text.slice(0, 100), maxSide)
    return pixels
  }
  return {
    format: Object.hasOwn(ALIASES, format) ? ALIASES[format]! : format,
    width: side('$width'),
    height: side('$height'),
  }
}

/** @returns the format to convert to; `undefined` when the stored bytes will do, `impossible` for a format that cannot be written */
export function conversionOf(
  { format, width, height }: Variant,
  mediaType: string,
): OutputFormat | 'impossible' | undefined {
  const storedFormat = mediaType.replace(/^image\//, '')
  const isResized = width !== undefined || height !== undefined
  if (!isResized && (format === storedFormat || (format === 'best' && WEB_FORMATS.has(storedFormat)))) return undefined
  const targetFormat =
    format === 'best' ? (isOutput(storedFormat) && WEB_FORMATS.has(storedFormat) ? storedFormat : 'png') : format
  return isOutput(targetFormat) ? targetFormat : 'impossible'
}

const isOutput = (format: string): format is OutputFormat => (OUTPUT_FORMATS as readonly string[]).includes(format)
