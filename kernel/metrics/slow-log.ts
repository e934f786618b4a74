import type { Logger } from 'pino'
import { type Engine, type QueryOutline, type ReadRequest, traceOf } from '../../engine/index.ts'
import { shownPath } from '../url/shown-path.ts'
import type { FinishedRequest } from '../transport/transport.ts'

/** Maximum rate: more lines would slow down the thread that serves all requests, and add little. */
const LINES_PER_SECOND = 10
const MAX_ADDRESS = 4_000

/**
 * Writes lines about slow requests. They contain names of the model, numbers and the plan, but no values of filters, no keys, and nothing
 * else of an address, unless the operator wants complete addresses (`log.slowQueryValues`).
 */
export class SlowLog {
  private second = 0
  private lines = 0
  private leftOut = 0

  constructor(
    private readonly log: Logger,
    private readonly queries: Pick<Engine['queries'], 'outline'>,
    private readonly withValues = false,
    private readonly now = performance.now.bind(performance),
  ) {}

  add(request: FinishedRequest, ms: number): void {
    const second = Math.floor(this.now() / 1000)
    if (second !== this.second) this.lines = 0
    this.second = second
    if (++this.lines > LINES_PER_SECOND) {
      this.leftOut++
      return
    }
    const { method, plugin, status, aborted, rowsExamined, rowsSent, receivedBytes, answerBytes, work } = request
    const read = request.subject?.read
    // A client that disconnects is not an error of the server, and may itself be the reason for the duration.
    this.log[aborted ? 'debug' : 'warn'](
      {
        client: request.client.address,
        method,
        address: this.withValues ? wholeAddress(request) : outlineAddress(request),
        plugin,
        status: aborted ? 'aborted' : status,
        ms: Math.round(ms),
        rowsExamined,
        rowsSent,
        receivedBytes,
        answerBytes,
        ranIn: work.length === 0 ? 'kernel' : [...new Set(work.map(({ where }) => where))].join(', '),
        waitedMs: Math.round(work.reduce((sum, { waitedMs }) => sum + waitedMs, 0)),
        ranMs: Math.round(work.reduce((sum, { ranMs }) => sum + ranMs, 0)),
        ...(read && { dataClass: read.dataClass, ...this.outline(read) }),
        trace: traceOf(request),
        ...(this.leftOut > 0 && { leftOut: this.leftOut }),
      },
      'slow request',
    )
    this.leftOut = 0
  }

  private outline(read: ReadRequest): QueryOutline {
    try {
      return this.queries.outline(read)
    } catch {
      // A query that cannot be planned has been answered with the reason.
      return {}
    }
  }
}

/** Complete address, without queries of plugins outside of the protocol: they can hold secrets, such as the code of a login. */
const wholeAddress = ({ path, query }: FinishedRequest): string =>
  (shownPath(path) + (query && (/^\/+rest(?:\/|$)/.test(path) ? `?${query}` : '?…'))).slice(0, MAX_ADDRESS)

/**
 * Outline of an address, `/rest/Employee(…)?$filter&$top`: names of the path up to the first key, and of the parameters of the protocol.
 */
function outlineAddress({ path, query }: FinishedRequest): string {
  const [names = ''] = /^(?:\/[$\w-]+)*/.exec(path) ?? []
  const keyPart = path.slice(names.length)
  // The id of an entity set gives access to it.
  const maskedNames = names.replaceAll(/\b[0-9A-Fa-f]{32}\b/g, '…')
  const parameters = query.split('&').flatMap(each => /^\$\w+/.exec(each) ?? [])
  return (
    maskedNames + (keyPart.length > 1 ? '(…)' : keyPart) + (parameters.length > 0 ? `?${parameters.join('&')}` : '')
  )
}
