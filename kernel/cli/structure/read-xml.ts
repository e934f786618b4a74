import { readFileSync, statSync } from 'node:fs'
import { parseXml, XmlElement } from '@rgrove/parse-xml'

/** Maximum bytes of a file, more than a 4D structure with the maximum number of tables needs. */
const MAX_BYTES = 32 * 2 ** 20
/**
 * Number of bytes that contain the declaration, which is in the first line; its letters are ASCII in all encodings that 4D writes except
 * UTF-16.
 */
const HEAD_BYTES = 200

/**
 * Reads the root element of an XML file. Entities other than XML's own are refused, and no DTD is read.
 * @throws {Error} the file is too large, or is not XML
 */
export function readXml(path: string): XmlElement {
  const { size } = statSync(path)
  if (size > MAX_BYTES) throw new Error(`${path} has ${size} bytes; a structure of 4D has at most ${MAX_BYTES}`)
  const text = decode(path, readFileSync(path))
  try {
    const { root } = parseXml(text)
    if (root) return root
    throw new Error('it has no elements')
  } catch (error) {
    // Nesting that exhausts the stack is a RangeError. Further lines of the message show the place in the text.
    const reason = error instanceof RangeError ? 'its elements are nested too deeply' : (error as Error).message
    throw new Error(`${path} is not XML: ${reason.split('\n')[0]}`)
  }
}

function decode(path: string, bytes: Buffer): string {
  const head = bytes.toString('latin1', 0, HEAD_BYTES)
  const isUtf16 = head.startsWith('\xff\xfe') || head.startsWith('\xfe\xff')
  const label = isUtf16
    ? head.startsWith('\xff')
      ? 'utf-16le'
      : 'utf-16be'
    : (/^(?:\xef\xbb\xbf)?<\?xml[^>]*\sencoding=["']([\w.:-]+)["']/.exec(head)?.[1] ?? 'utf-8')
  try {
    return new TextDecoder(label, { fatal: true }).decode(bytes)
  } catch {
    throw new Error(`${path} cannot be read as ${label}, the encoding that it names`)
  }
}

/** Child elements with a name. */
export const elements = ({ children }: XmlElement, name: string): XmlElement[] =>
  children.filter((child): child is XmlElement => child instanceof XmlElement && child.name === name)
