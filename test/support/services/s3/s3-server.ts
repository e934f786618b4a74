import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import { percentEncoded, refusalOf, type S3Key } from './signature.ts'

interface StoredObject {
  readonly bytes: Buffer
  readonly modified: number
  readonly tag: string
  readonly digest: string | undefined
}

interface Upload {
  readonly key: string
  readonly digest: string | undefined
  readonly parts: Map<number, Buffer>
}

/**
 * A fault of one request.
 * `busy`: 503 SlowDown. `cut`: the connection ends before the request is carried out; `lost`: after it, without the answer; `middle`: in the middle of
 * the answer's body. `damaged`: a body arrives with another digest; a sent one has another byte. `denied`: 403. `silent`: never
 * an answer. `late`: an error after status 200, where the operation knows that.
 */
export type Fault = 'busy' | 'cut' | 'lost' | 'middle' | 'damaged' | 'denied' | 'silent' | 'late'

const CODES: Readonly<Record<string, number>> = {
  AuthorizationHeaderMalformed: 400,
  InvalidToken: 400,
  XAmzContentSHA256Mismatch: 400,
  NoSuchKey: 404,
  NoSuchBucket: 404,
  NoSuchUpload: 404,
  PreconditionFailed: 412,
  NotImplemented: 501,
  SlowDown: 503,
}

class Refusal extends Error {}

const bucket = 'backups.of-tesser'

/** A server of the S3 protocol with one bucket in memory, as far as backups use it. It verifies signatures and digests. */
export class S3Server {
  readonly key: S3Key = { id: 'AKIDEXAMPLE', secret: 'Secret/+Key', token: 'Session==Token', region: 'eu-test-1' }
  readonly objects = new Map<string, StoredObject>()
  readonly uploads = new Map<string, Upload>()
  /** Requests so far, such as `PUT a/b?partNumber`. */
  readonly log: string[] = []
  /** @param n number of the request, from 0 */
  fault: (n: number, request: string) => Fault | undefined = () => undefined
  /** Support of `If-None-Match` for writes. */
  conditions: 'supported' | 'ignored' | 'refused' = 'supported'
  hasRanges = true
  pageSize = 7
  /** Milliseconds by which its clock is ahead. */
  ahead = 0
  largestBody = 0
  private made = 0

  private constructor(private readonly server: Server) {
    server.on('request', (request, response) => void this.answer(request, response))
  }

  static async start(t: Test): Promise<S3Server> {
    const server = createServer()
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    t.teardown(() => {
      server.closeAllConnections()
      server.close()
    })
    return new S3Server(server)
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`
  }

  get env(): Record<string, string> {
    const { id, secret, token, region } = this.key
    return { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret, AWS_SESSION_TOKEN: token!, AWS_REGION: region }
  }

  readonly address = (prefix: string): string => `s3://${bucket}/${prefix}`

  /** Keys below a folder. */
  keys(folder: string): string[] {
    return [...this.objects.keys()].filter(key => key.startsWith(folder)).sort()
  }

  private now(): number {
    return Date.now() + this.ahead
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url!, 'http://host')
    const [, name, ...parts] = url.pathname.split('/').map(decodeURIComponent)
    const key = parts.join('/')
    const query = url.searchParams
    const what = [...query.keys()].filter(each => /^(uploads|partNumber|uploadId|list-type)$/.test(each)).sort()
    const line = `${request.method} ${key}${what.length > 0 ? `?${what[0]}` : ''}`
    const n = this.log.push(line) - 1
    const fault = this.fault(n, line)
    const chunks: Buffer[] = []
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer)
    } catch {
      return
    }
    const body = Buffer.concat(chunks)
    this.largestBody = Math.max(this.largestBody, body.length)
    if (fault === 'silent') return
    if (fault === 'cut') return void request.socket.destroy()
    response.setHeader('date', new Date(this.now()).toUTCString())
    try {
      if (fault === 'busy') throw new Refusal('SlowDown')
      if (fault === 'denied') throw new Refusal('AccessDenied')
      if (fault === 'damaged' && body.length > 0) throw new Refusal('XAmzContentSHA256Mismatch')
      const refusal = refusalOf(request, body, this.key, Date.now())
      if (refusal) throw new Refusal(refusal)
      if (name !== bucket) throw new Refusal('NoSuchBucket')
      if (fault === 'late' && request.method === 'POST') return void response.end(errorXml('InternalError'))
      const { status = 200, headers = {}, content = '' } = this.carryOut(request, key, query, body)
      if (fault === 'lost') return void request.socket.destroy()
      const bytes = Buffer.from(content)
      if (fault === 'damaged' && bytes.length > 0) bytes[bytes.length >> 1]! ^= 1
      response.writeHead(status, { 'content-length': bytes.length, ...headers })
      if (fault !== 'middle' || bytes.length < 2) return void response.end(request.method === 'HEAD' ? '' : bytes)
      response.write(bytes.subarray(0, bytes.length >> 1), () => setImmediate(() => request.socket.destroy()))
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      const elsewhere = error.message === 'AuthorizationHeaderMalformed' ? `<Region>${this.key.region}</Region>` : ''
      // Servers repeat parts of the request.
      const text = errorXml(error.message, `${elsewhere}<StringToSign>${request.headers.authorization}</StringToSign>`)
      response.writeHead(CODES[error.message] ?? 403, { 'content-length': Buffer.byteLength(text) })
      response.end(request.method === 'HEAD' ? '' : text)
    }
  }

  private carryOut(request: IncomingMessage, key: string, query: URLSearchParams, body: Buffer): Answered {
    const { method, headers } = request
    if (key === '') return query.has('uploads') ? this.listUploads(query.get('prefix')) : this.list(query)
    const id = query.get('uploadId')
    if (method === 'POST' && query.has('uploads')) {
      const upload = `upload+${++this.made}/&<>`
      this.uploads.set(upload, { key, digest: headers['x-amz-meta-sha256'] as string, parts: new Map() })
      return { content: `<R><UploadId>${escaped(upload)}</UploadId></R>` }
    }
    if (id !== null) return this.ofUpload(request, key, id, query, body)
    if (method === 'PUT') {
      this.checkCondition(request, key)
      const { tag } = this.store(key, body, headers['x-amz-meta-sha256'] as string | undefined)
      return { headers: { etag: tag } }
    }
    if (method === 'DELETE') {
      this.objects.delete(key)
      return { status: 204 }
    }
    const object = this.objects.get(key)
    if (!object) throw new Refusal('NoSuchKey')
    if (headers['if-match'] !== undefined && headers['if-match'] !== object.tag) throw new Refusal('PreconditionFailed')
    const own = { etag: object.tag, ...(object.digest && { 'x-amz-meta-sha256': object.digest }) }
    if (method === 'HEAD') return { headers: { ...own, 'content-length': object.bytes.length } }
    const start = /^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1]
    if (start === undefined || !this.hasRanges) return { headers: own, content: object.bytes }
    return { status: 206, headers: own, content: object.bytes.subarray(Number(start)) }
  }

  private ofUpload(request: IncomingMessage, key: string, id: string, query: URLSearchParams, body: Buffer): Answered {
    const upload = this.uploads.get(id)
    if (upload?.key !== key) throw new Refusal('NoSuchUpload')
    if (request.method === 'PUT') {
      const number = Number(query.get('partNumber'))
      upload.parts.set(number, body)
      return { headers: { etag: tagOf(body) } }
    }
    if (request.method === 'POST') {
      this.checkCondition(request, key)
      const wanted = [...body.toString().matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>([^<]*)<\/ETag>/g)]
      const parts = wanted.map(([, number, tag]) => {
        const part = upload.parts.get(Number(number))
        if (!part || tagOf(part) !== tag!.replaceAll('&#34;', '"')) throw new Refusal('InvalidPart')
        return part
      })
      this.store(key, Buffer.concat(parts), upload.digest)
    }
    this.uploads.delete(id)
    return request.method === 'DELETE' ? { status: 204 } : { content: '<R></R>' }
  }

  private checkCondition({ headers }: IncomingMessage, key: string): void {
    if (headers['if-none-match'] === undefined || this.conditions === 'ignored') return
    if (this.conditions === 'refused') throw new Refusal('NotImplemented')
    if (this.objects.has(key)) throw new Refusal('PreconditionFailed')
  }

  private store(key: string, bytes: Buffer, digest: string | undefined): StoredObject {
    const object = { bytes, digest, modified: this.now(), tag: tagOf(bytes) }
    this.objects.set(key, object)
    return object
  }

  /** As some servers do, only for a whole key. */
  private listUploads(key: string | null): Answered {
    const found = [...this.uploads].filter(([, upload]) => upload.key === key)
    const texts = found.map(([id]) => `<Upload><Key>${escaped(key!)}</Key><UploadId>${escaped(id)}</UploadId></Upload>`)
    return { content: `<R><IsTruncated>false</IsTruncated>${texts.join('')}</R>` }
  }

  private list(query: URLSearchParams): Answered {
    const after = query.get('continuation-token') ?? ''
    const keys = this.keys(query.get('prefix') ?? '').filter(key => key > after)
    const page = keys.slice(0, this.pageSize)
    const isTruncated = keys.length > page.length
    const contents = page.map(key => {
      const modified = new Date(this.objects.get(key)!.modified).toISOString()
      return `<Contents><Key>${percentEncoded(key).replaceAll('%20', '+')}</Key><LastModified>${modified}</LastModified></Contents>`
    })
    const next = isTruncated ? `<NextContinuationToken>${escaped(page.at(-1)!)}</NextContinuationToken>` : ''
    return {
      content: `<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><EncodingType>url</EncodingType><IsTruncated>${isTruncated}</IsTruncated>${next}${contents.join('')}</ListBucketResult>`,
    }
  }
}

interface Answered {
  readonly status?: number
  readonly headers?: Record<string, string | number>
  readonly content?: string | Buffer
}

const tagOf = (bytes: Buffer): string => `"${createHash('md5').update(bytes).digest('hex')}"`
const escaped = (text: string): string => text.replace(/[<>&]/g, c => `&#x${c.charCodeAt(0).toString(16)};`)
const errorXml = (code: string, more = ''): string =>
  `<Error><Code>${code}</Code><Message>${code}</Message>${more}</Error>`
