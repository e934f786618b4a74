const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

const unescapeText = (text: string): string =>
  text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w+));/gi, (all, hex, decimal, name) => {
    if (name) return ENTITIES[name as string] ?? all
    const code = Number.parseInt(hex ?? decimal, hex ? 16 : 10)
    return code <= 0x10_ff_ff ? String.fromCodePoint(code) : all
  })

/** Text of the first element of a name that contains no elements. In answers of S3, such elements have no attributes, comments or CDATA. */
export function xmlText(xml: string, name: string): string | undefined {
  const [, text] = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml) ?? []
  return text === undefined ? undefined : unescapeText(text)
}

/** Contents of the elements of a name, as XML. */
export const xmlElements = (xml: string, name: string): string[] =>
  [...xml.matchAll(new RegExp(`<${name}>(.*?)</${name}>`, 'gs'))].map(([, content]) => content!)

export const escapeXml = (text: string): string =>
  text.replace(/[<>&"']/g, character => `&#${character.codePointAt(0)};`)
