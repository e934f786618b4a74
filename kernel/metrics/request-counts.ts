import { STATUS_CODES } from 'node:http'
import { byLabel, counter, type Metric } from '../../engine/base/counts/metric.ts'
import { HISTOGRAM_CELLS, histogram, observe } from '../../engine/base/counts/histogram.ts'
import type { FinishedRequest } from '../transport/transport.ts'

/** Methods with their own series. All other methods are counted as `other`, so that clients cannot create series. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'other']
const OTHER_METHOD = METHODS.length - 1
const STATUSES = [...Object.keys(STATUS_CODES).filter(code => Number(code) >= 200), 'other', 'aborted']
const OTHER_STATUS = STATUSES.length - 2
const ABORTED = STATUSES.length - 1
/** Index of each status in {@link STATUSES}. */
const STATUS_POSITIONS = Uint8Array.from({ length: 600 }, (_, status) => {
  const index = STATUSES.indexOf(String(status))
  return index < 0 ? OTHER_STATUS : index
})
/** Label in place of a plugin, for requests that no plugin has answered. */
const KERNEL = 'kernel'

/** Cells of a plugin: requests by method and status, a histogram for each method, then received and sent bytes, and rows. */
const TIMES = METHODS.length * STATUSES.length
const RECEIVED = TIMES + METHODS.length * HISTOGRAM_CELLS
const SENT = RECEIVED + 1
const EXAMINED = SENT + 1
const PLUGIN_CELLS = EXAMINED + 1

/**
 * Counters of the requests of a kernel thread, in shared memory: a cell for each possible combination of plugin, method and status,
 * so that counting allocates nothing and no client can make the number of series grow.
 */
export class RequestCounts {
  private readonly plugins: readonly string[]
  /** Index of each plugin in {@link plugins}; for undefined, the index of the kernel. */
  private readonly positions: ReadonlyMap<string | undefined, number>
  private readonly cells: Float64Array
  /** Number of untimed answers within one turn, and the last measured time, by plugin and method. */
  private readonly untimed: Float64Array
  private readonly lastTimes: Float64Array

  constructor(plugins: readonly string[]) {
    this.plugins = [KERNEL, ...plugins]
    this.positions = new Map([[undefined, 0], ...this.plugins.map((plugin, i) => [plugin, i] as const)])
    this.cells = new Float64Array(new SharedArrayBuffer(8 * PLUGIN_CELLS * this.plugins.length))
    this.lastTimes = new Float64Array(this.plugins.length * METHODS.length)
    this.untimed = new Float64Array(this.plugins.length * METHODS.length)
  }

  /**
   * @param isSample represents the untimed requests of its series
   * @param ms undefined: not measured, because it was answered in the turn of its arrival
   */
  countRequest(request: FinishedRequest, isSample: boolean, ms: number | undefined): void {
    const { cells } = this
    const plugin = this.positions.get(request.plugin) ?? 0
    const method = methodPosition(request.method)
    const status = request.aborted ? ABORTED : STATUS_POSITIONS[request.status]!
    const first = plugin * PLUGIN_CELLS
    cells[first + method * STATUSES.length + status]!++
    cells[first + RECEIVED]! += request.receivedBytes
    cells[first + SENT]! += request.answerBytes
    cells[first + EXAMINED]! += request.rowsExamined
    const series = plugin * METHODS.length + method
    if (ms === undefined) this.untimed[series]!++
    else this.timed(series, ms, isSample)
  }

  /** Records a time. Untimed answers of the series get the time of the next sample. */
  private timed(series: number, ms: number, isSample: boolean): void {
    observe(this.cells, timesOf(series), ms)
    if (!isSample) return
    observe(this.cells, timesOf(series), ms, this.untimed[series]!)
    this.untimed[series] = 0
    this.lastTimes[series] = ms
  }

  unreadable(status: number): void {
    this.cells[OTHER_METHOD * STATUSES.length + STATUS_POSITIONS[status]!]!++
  }

  read(): Metric[] {
    for (const [series, count] of this.untimed.entries())
      observe(this.cells, timesOf(series), this.lastTimes[series]!, count)
    this.untimed.fill(0)
    return [
      counter(
        'tesser_http_requests_total',
        'Requests. The status is aborted if the client left before the answer was complete; the plugin is kernel if no plugin answered.',
        this.requests(),
      ),
      histogram(
        'tesser_http_request_duration_seconds',
        'Time from the head of a request until its answer was sent. One in 16 answers to GET that wait for nothing is measured, and counts for the others.',
        this.plugins.flatMap((plugin, i) =>
          METHODS.map((method, place) => ({
            labels: { plugin, method },
            cells: this.cells,
            start: timesOf(i * METHODS.length + place),
          })),
        ),
      ),
      counter('tesser_http_received_bytes_total', 'Bytes of headers and bodies of requests.', this.of(RECEIVED)),
      counter('tesser_http_sent_bytes_total', 'Bytes of the bodies of answers.', this.of(SENT)),
      counter(
        'tesser_rows_examined_total',
        'Rows that queries examined: each hit of an index, scans in segments of 4,096 rows, and rows read for estimates.',
        this.of(EXAMINED),
      ),
    ]
  }

  private requests(): Metric['values'] {
    return this.plugins.flatMap((plugin, i) =>
      METHODS.flatMap((method, place) =>
        STATUSES.flatMap((status, at) => {
          const value = this.cells[i * PLUGIN_CELLS + place * STATUSES.length + at]!
          return value === 0 ? [] : [{ labels: { plugin, method, status }, value }]
        }),
      ),
    )
  }

  private of(cell: number): Metric['values'] {
    const values = this.plugins.map((plugin, i) => [plugin, this.cells[i * PLUGIN_CELLS + cell]!] as const)
    return byLabel('plugin', Object.fromEntries(values.filter(([, value]) => value > 0)))
  }
}

/** First cell of the histogram of a plugin and a method. */
const timesOf = (series: number): number =>
  Math.floor(series / METHODS.length) * PLUGIN_CELLS + TIMES + (series % METHODS.length) * HISTOGRAM_CELLS

function methodPosition(method: string): number {
  // GET is the most frequent method, and a comparison is cheap; the method string of a transport is a new object each time.
  if (method === 'GET') return 0
  const position = METHODS.indexOf(method)
  return position < 0 ? OTHER_METHOD : position
}
