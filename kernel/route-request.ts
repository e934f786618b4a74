import { RestRequest, type RequestContext } from './request.ts'
import type { PathParameters } from './route-table.ts'
import { cookieValue } from './session/cookie.ts'
import type { Visit } from './session/sessions.ts'
import type { TransportRequest } from './transport/transport.ts'
import { parseQueryString } from './url/parse-query-string.ts'

/** Request at a route of a plugin. When its handler waits, head and body stay readable. */
export class RouteRequest<Parameters extends PathParameters = PathParameters> extends RestRequest {
  private controller: AbortController | undefined
  private search: URLSearchParams | undefined

  /** @param bodyBytes limit of the route for bodies; undefined for the limit of the server */
  constructor(
    transport: TransportRequest,
    visit: Visit,
    context: RequestContext,
    /** Values of the parameters in the path of the route, decoded. No value is `..`, and only the value of a `*name` may have a slash. */
    readonly pathParameters: Parameters,
    private readonly bodyBytes: number | undefined,
  ) {
    const { limits } = context
    const ownContext =
      bodyBytes === undefined ? context : { ...context, limits: { ...limits, commandBodyBytes: bodyBytes } }
    super(transport, visit, ownContext, transport.method, parseQueryString(transport.query), [])
  }

  /** Value of the first header of a name, in any letter case; empty when there is none. */
  header(name: string): string {
    return this.transport.header(name.toLowerCase())
  }

  /** Value of a cookie as received; undefined when there is none. */
  cookie(name: string): string | undefined {
    return cookieValue(this.transport.header('cookie'), [name])
  }

  /** Parameters of the query string as forms send them, with all values of a name. */
  get query(): URLSearchParams {
    this.search ??= new URLSearchParams(this.transport.query)
    return this.search
  }

  /** Fires when the client disconnects before the answer is complete. */
  get signal(): AbortSignal {
    if (!this.controller) {
      const controller = new AbortController()
      this.controller = controller
      this.transport.onAborted(() => controller.abort())
    }
    return this.controller.signal
  }

  /**
   * The whole body, as bytes; empty when there is none.
   * @param maxBytes limit below the limit of the route
   * @throws {EdgeErrors.BODY_TOO_LARGE} 413; {@link EdgeErrors.CODED_BODY} 415
   */
  override body(maxBytes = Number.POSITIVE_INFINITY): Promise<Uint8Array> {
    return super.body(Math.min(maxBytes, this.bodyBytes ?? Number.POSITIVE_INFINITY))
  }
}
