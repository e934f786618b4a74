import { parseXml, XmlElement } from '@rgrove/parse-xml'
import type { Archive } from './archive.ts'
import { localName } from './read-xml.ts'

/** Maximum number of elements of a part that is in memory as a whole: some hundred bytes each. */
const MAX_ELEMENTS = 1_000_000

/** The root of a small part. @throws {Error} the part does not exist, is damaged, or is not small */
export async function rootOf(archive: Archive, part: string): Promise<XmlElement> {
  const text = await archive.text(part)
  let count = 0
  for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', at + 1))
    if (++count > 2 * MAX_ELEMENTS) throw new Error(`its part ${part} has more than ${MAX_ELEMENTS} elements`)
  try {
    return parseXml(text).root!
  } catch (error) {
    throw error instanceof RangeError ? new Error(`its part ${part} is nested too deeply`, { cause: error }) : error
  }
}

/** Elements two levels below an element. */
export const within = (element: XmlElement, list: string, item: string): XmlElement[] =>
  children(element, list).flatMap(each => children(each, item))

export const children = (element: XmlElement, name: string): XmlElement[] =>
  element.children.filter((child): child is XmlElement => child instanceof XmlElement && localName(child.name) === name)

/** Value of an attribute, whatever the prefix of its namespace. */
export const attribute = ({ attributes }: XmlElement, name: string): string | undefined =>
  attributes[name] ?? Object.entries(attributes).find(([each]) => localName(each) === name)?.[1]
