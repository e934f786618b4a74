import { SaxesParser } from 'saxes'

interface Handlers<T> {
  open(name: string, attributes: Readonly<Record<string, string>>): void
  text(text: string): void
  /** @returns what ends with an element */
  close(name: string): T | undefined
}

/** Reads XML as it comes. Names are local. */
export async function* readXml<T>(xml: AsyncIterable<string>, { open, text, close }: Handlers<T>): AsyncGenerator<T[]> {
  let items: T[] = []
  const parser = new SaxesParser({ xmlns: false, position: false })
  parser.on('opentag', ({ name, attributes }) => open(localName(name), attributes))
  parser.on('text', text)
  parser.on('cdata', text)
  parser.on('closetag', ({ name }) => {
    const item = close(localName(name))
    if (item !== undefined) items.push(item)
  })
  for await (const part of xml) {
    parser.write(part)
    yield items
    items = []
  }
  parser.close()
  yield items
}

/** Name of an element or attribute without the prefix of its namespace. */
export const localName = (name: string): string => name.slice(name.indexOf(':') + 1)
