import { ByteBudget } from '../../engine/index.ts'
import { RequestGuard } from './guard.ts'
import { InFlight } from './in-flight.ts'
import { SlowReaders } from './slow-readers.ts'
import type { TransportHandler, TransportOptions } from './transport.ts'

/** Number of bytes that is used when no budget is given. */
const NO_LIMIT_BYTES = 2 ** 40

/** State shared by all requests of one listening server. */
export class Edge {
  readonly inFlight = new InFlight()
  readonly slowReaders: SlowReaders
  readonly memory: ByteBudget
  readonly guard: RequestGuard
  readonly options: TransportOptions
  readonly handler: TransportHandler
  readonly beats: Int32Array
  #requests = 0

  /** @param isQuick most answers to GET are complete in the turn of their request */
  constructor(
    options: TransportOptions,
    handler: TransportHandler,
    private readonly isQuick = true,
  ) {
    this.options = options
    this.handler = handler
    this.guard = new RequestGuard(options.limits)
    this.slowReaders = new SlowReaders(options.limits)
    this.beats = options.meter?.beats ?? new Int32Array(1)
    this.memory = options.memory ?? ByteBudget.of(NO_LIMIT_BYTES)
  }

  /** True if the time of a request is measured from its beginning. Requests that outlast their turn are measured anyway, at no cost. */
  isTimed(method: string): boolean {
    const { meter } = this.options
    if (meter === undefined) return false
    const isQuick = this.isQuick && (method === 'GET' || method === 'HEAD')
    return !isQuick || this.#requests++ % meter.timedEvery === 0
  }
}
