import { SaxesParser } from 'saxes'

/** Maximum depth of elements. */
const MAX_DEPTH = 100
/** Maximum number of characters of a text, or of an element with its attributes: the parser collects them. */
const MAX_COLLECTED = 2 ** 24

interface Handlers<T> {
  open(name: string, attributes: Readonly<Record<string, string>>): void
  text(text: string): void
  /** @returns what ends with an element */
  close(name: string): T | undefined
}

/** Reads XML as it comes. Names are local. @throws {Error} it is damaged, or exceeds a bound */
export async function* readXml<T>(xml: AsyncIterable<string>, { open, text, close }: Handlers<T>): AsyncGenerator<T[]> {
  let items: T[] = []
  const parser = new SaxesParser({ xmlns: false, position: false })
  let depth = 0
  let collected = 0
  const take = (characters: string): void => {
    collected = 0
    text(characters)
  }
  parser.on('opentag', ({ name, attributes }) => {
    collected = 0
    if (++depth > MAX_DEPTH) throw new Error(`its elements are nested more than ${MAX_DEPTH} deep`)
    open(localName(name), attributes)
  })
  parser.on('text', take)
  parser.on('cdata', take)
  parser.on('closetag', ({ name }) => {
    collected = 0
    depth--
    const item = close(localName(name))
    if (item !== undefined) items.push(item)
  })
  for await (const part of xml) {
    collected += part.length
    parser.write(part)
    if (collected > MAX_COLLECTED)
      throw new Error(`it has a text or an element of more than ${MAX_COLLECTED} characters`)
    yield items
    items = []
  }
  parser.close()
  yield items
}

/** Name of an element or attribute without the prefix of its namespace. */
export const localName = (name: string): string => name.slice(name.indexOf(':') + 1)
