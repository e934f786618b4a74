import type { Config } from '../../../config/load-config.ts'
import { describeKernels } from '../../../engine/command-line.ts'
import { connectionBound } from '../../transport/connection-limit.ts'
import { selectTransport } from '../../transport/select.ts'
import { messageOf } from './examine-parts.ts'
import { fault, type Finding, limitation, success } from './finding.ts'

/** Examines the code that depends on the machine. It loads only if no part is missing that nothing works without. */
export const examineEngine = (config: Config): Finding[] => [transportFinding(config), vectorInstructions()]

function transportFinding({ server, pool, functions }: Config): Finding {
  const bound = connectionBound(server.maxConnections, [pool.threads, functions.threads])
  try {
    const { name, passedOver, warnings } = selectTransport(server.transport, server.headerBytes, bound)
    // A warning contains the reasons why other transports were passed over.
    const reasons = [...passedOver.filter(reason => !warnings.some(text => text.includes(reason))), ...warnings]
    if (reasons.length === 0) return success('transport', name)
    return limitation('transport', `${name}; ${reasons.join('; ')}`, transportRemedy(reasons.join()))
  } catch (error) {
    return fault('transport', messageOf(error), 'set server.transport to auto')
  }
}

/** @param reasons why faster transports were passed over */
export function transportRemedy(reasons: string): string {
  const glibc = /GLIBC_([\d.]+)/.exec(reasons)?.[1]
  if (glibc !== undefined)
    return `for the fastest one, use a system with glibc ${glibc} or later, such as Debian 13, Ubuntu 24.04, or the image of config/deploy`
  if (/Cannot find module/.test(reasons)) return 'for the fastest one, npm install --include=optional'
  return 'nothing has to be done; a fast transport matters from some thousand requests a second on'
}

/** The kernels, which need SIMD instructions of the processor. */
function vectorInstructions(): Finding {
  const found = describeKernels()
  if (found !== undefined) return success('SIMD', found)
  return limitation(
    'SIMD',
    'missing: filters, sums and vectors take several times as long',
    'use another processor or Node.js',
  )
}
