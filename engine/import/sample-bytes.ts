/** Number of bytes from which the format of a file is guessed. */
const SAMPLE_BYTES = 4 * 2 ** 20

/** The beginning of a file. */
export interface ByteSample {
  readonly bytes: Buffer
  /** True if the sample is the whole file. */
  readonly isWhole: boolean
}

/**
 * Reads the beginning of a source.
 * @returns the sample, and all bytes of the source, the sample included
 */
export async function sampleBytes(
  source: AsyncIterable<Buffer>,
  minBytes = SAMPLE_BYTES,
): Promise<{ sample: ByteSample; all: AsyncIterable<Buffer> }> {
  const iterator = source[Symbol.asyncIterator]()
  const chunks: Buffer[] = []
  let length = 0
  let isWhole = false
  while (length < minBytes && !isWhole) {
    const next = await iterator.next()
    if (next.done) isWhole = true
    else {
      chunks.push(next.value)
      length += next.value.length
    }
  }
  return { sample: { bytes: Buffer.concat(chunks), isWhole }, all: replay(chunks, iterator) }
}

/** The bytes that have already been read from a source, followed by all others. */
async function* replay(chunks: readonly Buffer[], iterator: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* chunks
    for (;;) {
      const next = await iterator.next()
      if (next.done) return
      yield next.value
    }
  } finally {
    await iterator.return?.()
  }
}

/** Encoding of a text, by its byte order mark or its bytes: a label that `TextDecoder` knows. */
export function guessEncoding({ bytes }: ByteSample): string {
  const [first, second] = bytes
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  const zeros = zeroBytes(bytes.subarray(0, ZEROS_IN))
  if (zeros) return zeros
  const { characters, faults } = utf8Characters(bytes)
  // A few invalid bytes in a text with UTF-8 characters are mistakes in some rows.
  return faults > characters ? 'windows-1252' : 'utf-8'
}

const ZEROS_IN = 4096

/** Recognizes UTF-16 without a byte order mark: most characters of a table have a byte that is zero. */
function zeroBytes(bytes: Buffer): string | undefined {
  const zeros = [0, 0]
  for (let i = 0; i < bytes.length; i++) if (bytes[i] === 0) zeros[i % 2]!++
  const [even, odd] = zeros as [number, number]
  if (odd > bytes.length / 4 && even < odd / 8) return 'utf-16le'
  return even > bytes.length / 4 && odd < even / 8 ? 'utf-16be' : undefined
}

/** Counts characters of several bytes, and bytes that are not UTF-8. */
function utf8Characters(bytes: Buffer): { characters: number; faults: number } {
  let characters = 0
  let faults = 0
  for (let i = 0; i < bytes.length; ) {
    const byte = bytes[i]!
    if (byte < 0x80) {
      i++
      continue
    }
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc2 ? 2 : 1
    let end = i + 1
    while (end < i + length && end < bytes.length && (bytes[end]! & 0xc0) === 0x80) end++
    // The sample may end within a character.
    const isWhole = length > 1 && byte < 0xf5 && (end === i + length || end === bytes.length)
    if (isWhole) characters++
    else faults++
    i = end
  }
  return { characters, faults }
}
