import type { ByteWriter } from '../../answer/byte-writer.ts'

const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY] = [0x7b, 0x7d, 0x5b, 0x5d]
const [COMMA, COLON, QUOTE, BACKSLASH, SPACE, NEW_LINE] = [0x2c, 0x3a, 0x22, 0x5c, 0x20, 0x0a]

/**
 * Rewrites JSON text without blanks with line breaks and an indent of two blanks. It works on the text, because parsing would
 * not preserve numbers beyond 2^53. The text may arrive in pieces that end anywhere.
 */
export class JsonIndenter {
  private depth = 0
  private isInText = false
  private isEscaped = false
  /** True after an opening bracket, which may be followed by its closing one. */
  private isOpening = false

  constructor(private readonly out: ByteWriter) {}

  write(json: Uint8Array): void {
    const { out } = this
    for (let at = 0; at < json.length; at++) {
      if (this.isInText) {
        const start = at
        at = this.endOfText(json, at)
        out.copy(json, start, Math.min(at + 1, json.length))
        continue
      }
      const byte = json[at]!
      const isClosing = byte === CLOSE_OBJECT || byte === CLOSE_ARRAY
      if (this.isOpening) {
        this.isOpening = false
        if (!isClosing) {
          this.depth++
          this.newLine()
        }
      } else if (isClosing) {
        this.depth--
        this.newLine()
      }
      out.byte(byte)
      if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) this.isOpening = true
      else if (byte === COMMA) this.newLine()
      else if (byte === COLON) out.byte(SPACE)
      else if (byte === QUOTE) this.isInText = true
    }
  }

  /** @returns end of the text that contains `json[at]`; the length of the piece if the text continues in the next one */
  private endOfText(json: Uint8Array, at: number): number {
    for (; at < json.length; at++) {
      if (this.isEscaped) this.isEscaped = false
      else if (json[at] === BACKSLASH) this.isEscaped = true
      else if (json[at] === QUOTE) {
        this.isInText = false
        break
      }
    }
    return at
  }

  private newLine(): void {
    const { out } = this
    out.byte(NEW_LINE)
    for (let i = 0; i < this.depth; i++) {
      out.byte(SPACE)
      out.byte(SPACE)
    }
  }
}
