import { connect, type Socket } from 'node:net'

const CHUNK_BYTES = 65_536
/** Maximum size of a head, which usually has some 150 bytes. The rest of the chunk need not be decoded. */
const MAX_HEAD_BYTES = 2_048

interface ConnectionEvents {
  /** Called when the answer is complete. */
  onAnswer(status: number, bodyBytes: number): void
  /** Called when the connection has failed; it will not be used again. */
  onFailure(reason: string): void
}

/** One keep-alive connection, one request at a time. It reads only the status and length of an answer. */
export class Connection {
  private readonly socket: Socket
  /** Part of the answer's head that has arrived. */
  private head = ''
  private status = 0
  private bodyBytes = 0
  /** Missing bytes of the body; below 0 until the head is complete. */
  private missingBytes = -1
  private isClosed = false

  constructor(
    port: number,
    private readonly events: ConnectionEvents,
    onConnect: () => void,
  ) {
    // A single buffer saves an allocation for each read.
    const onread = { buffer: Buffer.allocUnsafe(CHUNK_BYTES), callback: this.receive }
    this.socket = connect({ port, host: '127.0.0.1', noDelay: true, onread }, onConnect)
    this.socket.on('error', error => this.fail(error.message))
    this.socket.on('close', () => this.fail('the server closed the connection'))
  }

  send(request: string): void {
    // Measured: a string costs less than a Buffer, which is kept alive and tracked until it is written.
    this.socket.write(request, 'latin1')
  }

  close(): void {
    this.isClosed = true
    this.socket.destroy()
  }

  private readonly receive = (size: number, chunk: Uint8Array): boolean => {
    if (this.missingBytes < 0) this.missingBytes = this.readHead(chunk as Buffer, size)
    else this.missingBytes -= size
    if (this.missingBytes === 0) {
      this.missingBytes = -1
      this.events.onAnswer(this.status, this.bodyBytes)
    }
    return true
  }

  /** @returns missing bytes of the body, below 0 when the head is not complete */
  private readHead(chunk: Buffer, size: number): number {
    const before = this.head.length
    const head = this.head + chunk.toString('latin1', 0, Math.min(size, MAX_HEAD_BYTES))
    const end = head.indexOf('\r\n\r\n')
    if (end < 0) {
      this.head = head
      if (head.length >= MAX_HEAD_BYTES) this.fail('an answer without an end of its head')
      return -1
    }
    this.head = ''
    const [, bytes] = CONTENT_LENGTH.exec(head.slice(0, end)) ?? []
    if (bytes === undefined) this.fail('an answer without Content-Length')
    this.status = Number(head.slice(9, 12))
    this.bodyBytes = Number(bytes)
    return end + 4 + this.bodyBytes - (before + size)
  }

  private fail(reason: string): void {
    if (this.isClosed) return
    this.close()
    this.events.onFailure(reason)
  }
}

const CONTENT_LENGTH = /\r\ncontent-length: (\d+)/i
