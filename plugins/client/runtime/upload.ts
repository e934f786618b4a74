/** Uploads with progress. */

/** The used part of `XMLHttpRequest`, the only API in browsers that reports upload progress. */
interface BrowserRequest {
  withCredentials: boolean
  readonly status: number
  readonly responseText: string
  readonly upload: { onprogress: ((event: { readonly loaded: number; readonly total: number }) => void) | null }
  onload: (() => void) | null
  onerror: (() => void) | null
  onabort: (() => void) | null
  open(verb: string, address: string): void
  setRequestHeader(name: string, value: string): void
  getResponseHeader(name: string): string | null
  send(body: unknown): void
  abort(): void
}

interface SentBytes {
  readonly verb: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Blob | Uint8Array
  readonly signal?: AbortSignal | undefined
  readonly credentials: 'omit' | 'same-origin' | 'include'
  readonly onProgress: (share: number) => void
}

/** Answer to an upload. */
interface UploadAnswer {
  readonly status: number
  readonly ok: boolean
  readonly headers: { get(name: string): string | null }
  text(): Promise<string>
  blob(): Promise<Blob>
}

const browserRequest = (): (new () => BrowserRequest) | undefined =>
  (globalThis as { XMLHttpRequest?: new () => BrowserRequest }).XMLHttpRequest

/** Sends bytes by `XMLHttpRequest`. @returns undefined outside browsers */
export function sendFromBrowser(address: string, upload: SentBytes): Promise<UploadAnswer> | undefined {
  const { verb, headers, body, signal, credentials, onProgress } = upload
  const Request = browserRequest()
  if (!Request) return undefined
  return new Promise((resolve, reject) => {
    const request = new Request()
    request.open(verb, address)
    request.withCredentials = credentials === 'include'
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value)
    request.upload.onprogress = ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 1)
    request.onload = () => {
      const { status, responseText } = request
      const ok = status >= 200 && status < 300
      const headers = { get: (name: string) => request.getResponseHeader(name) }
      resolve({ status, ok, headers, text: async () => responseText, blob: async () => new Blob([responseText]) })
    }
    request.onerror = () => reject(new TypeError('the server cannot be reached'))
    request.onabort = () => reject(signal?.reason)
    if (signal?.aborted) reject(signal.reason)
    else {
      signal?.addEventListener('abort', () => request.abort(), { once: true })
      request.send(body)
    }
  })
}

/** The bytes as a stream that reports how much of it has been consumed. */
export function streamWithProgress(
  body: Blob | Uint8Array,
  onProgress: (share: number) => void,
): ReadableStream<Uint8Array> {
  // The cast is for TypeScript 5.7 and later, which distinguish the buffers of arrays; earlier versions cannot express the
  // difference.
  const blob = body instanceof Blob ? body : new Blob([body] as ConstructorParameters<typeof Blob>[0])
  let sentBytes = 0
  return new ReadableStream({
    async pull(stream) {
      const piece = new Uint8Array(await blob.slice(sentBytes, sentBytes + PIECE_BYTES).arrayBuffer())
      sentBytes += piece.byteLength
      if (piece.byteLength === 0) return stream.close()
      stream.enqueue(piece)
      onProgress(sentBytes / blob.size)
    },
  })
}

const PIECE_BYTES = 65_536
