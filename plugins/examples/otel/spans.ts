/** An OpenTelemetry span in the JSON of OTLP. Source: OpenTelemetry, "OTLP specification", JSON Protobuf encoding. */
interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly Attribute[]
  readonly status: { readonly code?: number }
}

export interface Attribute {
  readonly key: string
  readonly value: { readonly stringValue: string } | { readonly intValue: string } | { readonly doubleValue: number }
}

export const text = (key: string, stringValue: string): Attribute => ({ key, value: { stringValue } })
export const integer = (key: string, value: number): Attribute => ({ key, value: { intValue: String(value) } })
export const number = (key: string, doubleValue: number): Attribute => ({ key, value: { doubleValue } })

/** Maximum number of spans in one request to the collector. */
const BATCH = 512
/** Maximum number of pending spans; further ones are dropped, so that memory does not grow while the collector is down. */
const MAX_WAITING = 4_096
const TIMEOUT_MS = 10_000

/** Sends spans to a collector, in batches. */
export class SpanExporter {
  #waiting: Span[] = []
  #dropped = 0
  readonly #timer: NodeJS.Timeout

  constructor(
    private readonly endpoint: string,
    private readonly service: string,
    intervalMs: number,
    private readonly onProblem: (text: string) => void,
  ) {
    this.#timer = setInterval(() => void this.flush(), intervalMs).unref()
  }

  add(span: Span): void {
    if (this.#waiting.length < MAX_WAITING) this.#waiting.push(span)
    else this.#dropped++
  }

  async flush(): Promise<void> {
    while (this.#waiting.length > 0) await this.#send(this.#waiting.splice(0, BATCH))
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.flush()
  }

  async #send(spans: readonly Span[]): Promise<void> {
    const resource = { attributes: [text('service.name', this.service)] }
    const body = { resourceSpans: [{ resource, scopeSpans: [{ scope: { name: 'tesser' }, spans }] }] }
    try {
      const answer = await fetch(`${this.endpoint}/v1/traces`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
      await answer.arrayBuffer()
      if (!answer.ok) this.#problem(spans.length, `it answered ${answer.status}`)
    } catch (error) {
      this.#problem(spans.length, String(error))
    }
  }

  #problem(lost: number, reason: string): void {
    this.onProblem(`${lost + this.#dropped} spans were not taken by ${this.endpoint}: ${reason}`)
    this.#dropped = 0
  }
}
