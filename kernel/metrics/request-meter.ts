import type { Logger } from 'pino'
import type { Engine } from '../../engine/index.ts'
import type { RequestMeter } from '../transport/transport.ts'
import type { RequestCounts } from './request-counts.ts'
import { SlowLog } from './slow-log.ts'

/** @param counts undefined: requests are not counted @param slowMs 0: none is slow @returns undefined: nothing is to be done */
export function requestMeter(
  counts: RequestCounts | undefined,
  log: Logger,
  engine: Engine,
  slowMs: number,
): RequestMeter | undefined {
  if (!counts && slowMs === 0) return undefined
  const bound = slowMs || Number.POSITIVE_INFINITY
  const slow = new SlowLog(log, engine)
  return {
    finished(request, isSameTurn) {
      const { startedAt } = request
      const ms = startedAt === 0 ? undefined : performance.now() - startedAt
      counts?.finished(request, isSameTurn, ms)
      if (ms !== undefined && ms >= bound) slow.add(request, ms)
    },
    unreadable: status => counts?.unreadable(status),
  }
}
