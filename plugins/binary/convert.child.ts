/**
 * Entry of the processes that convert images. Takes one image at a time and answers with its bytes; empty if it cannot be
 * converted: damaged, too large, or sharp not installed.
 */
import type { Conversion } from './converter.ts'

/** Enabled image loaders of libvips. The others have had too many vulnerabilities for the little use they have here. */
const LOADERS = ['Jpeg', 'Png', 'Webp', 'Nsgif', 'Tiff', 'Svg', 'Heif'].map(name => `VipsForeignLoad${name}`)

const sharp = await import('sharp').then(
  ({ default: sharp }) => {
    sharp.block({ operation: ['VipsForeignLoad'] })
    sharp.unblock({ operation: LOADERS })
    sharp.cache(false)
    sharp.concurrency(1)
    return sharp
  },
  () => undefined,
)

async function convert({ bytes, format, width, height, maxPixels }: Conversion): Promise<Uint8Array> {
  if (!sharp) return new Uint8Array(0)
  const isAnimated = format === 'gif' || format === 'webp'
  const image = sharp(bytes, { limitInputPixels: maxPixels, sequentialRead: true, animated: isAnimated }).autoOrient()
  if (width !== undefined || height !== undefined)
    image.resize({ width, height, fit: 'inside', withoutEnlargement: true })
  // JPEG has no transparency; without this, transparent areas would turn black.
  if (format === 'jpeg') image.flatten({ background: 'white' })
  return image.toFormat(format).toBuffer()
}

process.on('message', (conversion: Conversion) => {
  convert(conversion)
    .catch(() => new Uint8Array(0))
    .then(bytes => process.send!(bytes))
})
process.on('disconnect', () => process.exit())
