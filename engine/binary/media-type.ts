/** Number of bytes at the start of a file that determine its type. */
export const SNIFFED_BYTES = 4100

const UNKNOWN = 'application/octet-stream'

/** Media type of the content, whatever its declared type: `image/png`, or `application/octet-stream` if unknown. */
export async function sniffMediaType(start: Uint8Array): Promise<string> {
  try {
    // Loaded on first use: it takes 60 ms.
    const { fileTypeFromBuffer } = await import('file-type')
    const type = (await fileTypeFromBuffer(start))?.mime
    if (type !== undefined && type !== 'application/xml') return type.length < 0x80 ? type : UNKNOWN
  } catch {
    // A truncated file may begin like a valid one.
    return UNKNOWN
  }
  return isSvg(Buffer.from(start).toString('utf8')) ? 'image/svg+xml' : UNKNOWN
}

/** True if the first element is `svg`, after an XML declaration, comments and a document type. */
function isSvg(text: string): boolean {
  for (let at = skipBlanks(text, 0); ; ) {
    if (/^<(?:\w{1,40}:)?svg[\s/>]/.test(text.slice(at, at + 60))) return true
    const end = endOfMarkup(text, at)
    if (end === undefined) return false
    at = skipBlanks(text, end)
  }
}

function endOfMarkup(text: string, at: number): number | undefined {
  if (text.startsWith('<?', at)) return endOf(text, '?>', at)
  if (text.startsWith('<!--', at)) return endOf(text, '-->', at + 4)
  if (!/^<!DOCTYPE\s{1,40}(?:\w{1,40}:)?svg[\s[>]/.test(text.slice(at, at + 120))) return undefined
  const close = endOf(text, '>', at)
  const subset = text.indexOf('[', at)
  if (close === undefined || subset < 0 || subset > close) return close
  const subsetEnd = endOf(text, ']', subset)
  return subsetEnd && endOf(text, '>', subsetEnd)
}

function endOf(text: string, what: string, from: number): number | undefined {
  const position = text.indexOf(what, from)
  return position < 0 ? undefined : position + what.length
}

function skipBlanks(text: string, from: number): number {
  let at = from
  while (at < text.length && /[\s\uFEFF]/.test(text[at]!)) at++
  return at
}
