import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'

const LINE_END = 0x0a
const FIRST_BEYOND_ASCII = 0x80

/** Error of Node's parser for a request that it cannot read. */
export interface ParserError extends Error {
  code?: string
  /** Offset in `rawPacket`. */
  bytesParsed?: number
  rawPacket?: Buffer
}

/**
 * A connection whose request has raw bytes above ASCII in its target, which clients such as curl send and the parser of Node refuses: a
 * second parser reads the same bytes from here, percent-encoded in the request line. The failed parser of the socket passes on further
 * bytes (`feed`). Serves only one request, since the next one would not be encoded. Looking at each packet first would slow down all
 * requests, and the lenient mode of the parser accepts requests that `guard.ts` must refuse.
 */
export class EncodedConnection extends Duplex {
  readonly #socket: Socket
  #isInRequestLine = true

  constructor(socket: Socket) {
    super({ allowHalfOpen: true })
    this.#socket = socket
    socket.once('close', () => this.destroy())
    socket.on('timeout', () => this.emit('timeout'))
  }

  /** True if everything of the request that has arrived is in the packet at which the parser failed. */
  static takes({ code, bytesParsed = 0, rawPacket }: ParserError): boolean {
    if (code !== 'HPE_INVALID_URL' || !rawPacket || !(rawPacket[bytesParsed]! >= FIRST_BEYOND_ASCII)) return false
    return /^[A-Z]+ \/[^\r\n]*$/.test(rawPacket.toString('latin1', 0, bytesParsed))
  }

  /** Takes bytes that have arrived; undefined at the end of the client's data. */
  feed(bytes: Uint8Array | undefined): void {
    if (!bytes) {
      this.push(null)
      return
    }
    const goesOn = this.push(this.#isInRequestLine ? this.#encode(bytes) : Buffer.from(bytes))
    if (!goesOn) this.#socket.pause()
  }

  #encode(bytes: Uint8Array): Buffer {
    const lineEnd = bytes.indexOf(LINE_END)
    this.#isInRequestLine = lineEnd < 0
    const line = this.#isInRequestLine ? bytes : bytes.subarray(0, lineEnd)
    const characters = Array.from(line, byte =>
      byte < FIRST_BEYOND_ASCII ? String.fromCharCode(byte) : `%${byte.toString(16)}`,
    )
    return Buffer.concat([Buffer.from(characters.join(''), 'latin1'), bytes.subarray(line.length)])
  }

  get remoteAddress(): string | undefined {
    return this.#socket.remoteAddress
  }

  setTimeout(timeoutMs: number): this {
    this.#socket.setTimeout(timeoutMs)
    return this
  }

  override _read(): void {
    this.#socket.resume()
  }

  override _write(bytes: Uint8Array, _encoding: string, callback: (error?: Error | null) => void): void {
    this.#socket.write(bytes, callback)
  }

  override _final(callback: () => void): void {
    this.#socket.end(callback)
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#socket.destroy()
    callback(error)
  }
}
