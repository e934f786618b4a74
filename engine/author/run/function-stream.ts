/** Connection to the stream of a call. */
export interface StreamFlow {
  /** Called when the client has taken a chunk of this size. */
  taken(size: number): void
  /** Called when the client has disconnected. */
  gone(): void
}

type Chunk = string | Uint8Array
type Next = IteratorResult<Chunk, undefined>

const DONE: Next = { done: true, value: undefined }

/** Chunks of an answer that a function thread sends. What has arrived is delivered before an error. */
export class FunctionStream implements AsyncIterator<Chunk, undefined> {
  private readonly chunks: Chunk[] = []
  private outcome: { readonly error?: unknown } | undefined
  private reader: { resolve(next: Next): void; reject(error: unknown): void } | undefined

  constructor(private readonly flow: StreamFlow) {}

  push(chunk: Chunk): void {
    if (this.reader) this.deliver(chunk)
    else this.chunks.push(chunk)
  }

  /** Called when the last chunk has arrived. @param result rejects if the stream has failed */
  end(result: Promise<unknown>): void {
    result.then(
      () => this.finish({}),
      error => this.finish({ error }),
    )
  }

  next(): Promise<Next> {
    return new Promise((resolve, reject) => {
      this.reader = { resolve, reject }
      const chunk = this.chunks.shift()
      if (chunk !== undefined) this.deliver(chunk)
      else if (this.outcome) this.finish(this.outcome)
    })
  }

  /** Called when nothing more is wanted. */
  return(): Promise<Next> {
    this.chunks.length = 0
    if (!this.outcome) this.flow.gone()
    this.finish({})
    return Promise.resolve(DONE)
  }

  private deliver(chunk: Chunk): void {
    const { reader } = this
    this.reader = undefined
    this.flow.taken(chunk.length)
    reader!.resolve({ done: false, value: chunk })
  }

  private finish(outcome: { readonly error?: unknown }): void {
    this.outcome ??= outcome
    const { reader } = this
    if (!reader || this.chunks.length > 0) return
    this.reader = undefined
    if (this.outcome.error === undefined) reader.resolve(DONE)
    else reader.reject(this.outcome.error)
  }
}
