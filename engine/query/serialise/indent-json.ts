import type { ByteWriter } from './byte-writer.ts'

const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY] = [0x7b, 0x7d, 0x5b, 0x5d]
const [COMMA, COLON, QUOTE, BACKSLASH, SPACE, NEW_LINE] = [0x2c, 0x3a, 0x22, 0x5c, 0x20, 0x0a]

/**
 * Writes JSON text without blanks again with line breaks and an indent of two blanks. It works on the text, because
 * numbers beyond 2^53 would not survive being parsed.
 */
export function indentJson(json: Uint8Array, out: ByteWriter): void {
  let depth = 0
  const newLine = () => {
    out.byte(NEW_LINE)
    for (let i = 0; i < depth; i++) {
      out.byte(SPACE)
      out.byte(SPACE)
    }
  }
  for (let at = 0; at < json.length; at++) {
    const byte = json[at]!
    switch (byte) {
      case OPEN_OBJECT:
      case OPEN_ARRAY: {
        out.byte(byte)
        const next = json[at + 1]!
        if (next === CLOSE_OBJECT || next === CLOSE_ARRAY) {
          out.byte(next)
          at++
          break
        }
        depth++
        newLine()
        break
      }
      case CLOSE_OBJECT:
      case CLOSE_ARRAY:
        depth--
        newLine()
        out.byte(byte)
        break
      case COMMA:
        out.byte(byte)
        newLine()
        break
      case COLON:
        out.byte(byte)
        out.byte(SPACE)
        break
      case QUOTE: {
        const start = at++
        for (; json[at] !== QUOTE; at++) if (json[at] === BACKSLASH) at++
        out.copy(json, start, at + 1)
        break
      }
      default:
        out.byte(byte)
    }
  }
}
