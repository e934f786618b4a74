import type { Logger } from 'pino'
import type { Config } from '../../config/load-config.ts'
import { LONG_MS } from '../../engine/base/counts/loop-delay.ts'
import type { Engine } from '../../engine/index.ts'
import type { RequestMeter } from '../transport/transport.ts'
import type { AccessLog } from './access-log.ts'
import type { RequestCounts } from './request-counts.ts'
import { SlowLog } from './slow-log.ts'

/**
 * Number of requests per timed one. Reading the clock takes half a percent of the shortest request, and requests answered within one turn
 * differ little.
 */
const TIMED_EVERY = 16

/**
 * @param counts undefined: requests are not counted
 * @param accessLog undefined: lines are written about slow requests only
 * @returns undefined when there is nothing to measure
 */
export function requestMeter(
  counts: RequestCounts | undefined,
  log: Logger,
  engine: Pick<Engine, 'loopDelay'> & { readonly queries: Pick<Engine['queries'], 'outline'> },
  { slowQueryMs, slowQueryValues }: Pick<Config['log'], 'slowQueryMs' | 'slowQueryValues'>,
  accessLog?: AccessLog,
): RequestMeter | undefined {
  if (!counts && !accessLog && slowQueryMs === 0) return undefined
  const { loopDelay, queries } = engine
  const { beats } = loopDelay
  const bound = slowQueryMs || Number.POSITIVE_INFINITY
  const slow = new SlowLog(log, queries, slowQueryValues)
  loopDelay.onDelay = ms => {
    if (ms >= bound) log.warn({ ms: Math.round(ms) }, 'the thread that serves requests was held up')
  }
  /** Time of a request that was not timed; undefined if its turn was short. */
  const longTurn = (beat: number): number | undefined => {
    if (beats[0] === beat) return undefined
    const now = performance.now()
    return now - loopDelay.heldUpSince(now) || undefined
  }
  return {
    // Turns shorter than LONG_MS are not detected as long ones.
    timedEvery: accessLog || bound < LONG_MS ? 1 : TIMED_EVERY,
    beats,
    turnBegan: () => loopDelay.heldUpSince(performance.now()),
    isSlow: startedAt => startedAt > 0 && performance.now() - startedAt >= bound,
    finished(request, isSameTurn) {
      const { startedAt } = request
      const ms = startedAt === 0 ? longTurn(request.beat) : performance.now() - startedAt
      const isSlow = ms !== undefined && ms >= bound
      // A slow request does not represent those that were not timed.
      counts?.countRequest(request, isSameTurn && startedAt > 0 && !isSlow, ms)
      if (isSlow) slow.add(request, ms)
      accessLog?.finish(request, ms ?? 0)
    },
    unreadable: status => counts?.unreadable(status),
  }
}
