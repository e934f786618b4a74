import { existsSync, readFileSync } from 'node:fs'
import { availableParallelism, totalmem } from 'node:os'
import type { Config } from '../../../config/load-config.ts'
import { addressSpaceProblem } from '../../../engine/base/address-space.ts'
import { softLimit, usedAddressSpace } from '../../../engine/base/system-limits.ts'
import { connectionsWithin, fileLimit } from '../../transport/connection-limit.ts'
import { describeSize } from '../describe-size.ts'
import { fault, type Finding, limitation, success } from './finding.ts'

/** Oldest major version of Node.js that still gets security fixes. */
const SUPPORTED_NODE = 22
/** Number of connections below which a limit of open files is likely to be reached. */
const FEW_CONNECTIONS = 2000
/** Memory below which the default settings do not fit. */
const LITTLE_MEMORY = 2 ** 30
/** Tesser did not exist before. */
const FIRST_YEAR = 2026
const STEP_MS = 1000
/** Address space of the shared memory with the guard regions of V8. */
const SHARED_BYTES = 10.5 * 2 ** 30

/** Examines Node.js, the processor, and the limits of the system. */
export function examineSystem(config: Config): Finding[] {
  const threads = [config.pool.threads, config.functions.threads]
  return [
    nodeFinding(process.versions.node),
    success('system', `${process.platform} ${process.arch}${libc()}`),
    processorFinding(availableParallelism(), processorQuota()),
    memoryFinding(Math.min(totalmem(), process.constrainedMemory() || totalmem()), config.storage.memoryBytes),
    filesFinding(fileLimit(), connectionsWithin(threads)),
    addressFinding(config.storage, softLimit('Max address space') ?? Number.POSITIVE_INFINITY),
    clockFinding(Date.now(), performance.timeOrigin + performance.now(), isSynchronised()),
  ]
}

export function nodeFinding(version: string): Finding {
  const major = Number(version.split('.')[0])
  // Odd versions never get long-term support.
  if (major >= SUPPORTED_NODE && major % 2 === 0) return success('Node.js', version)
  return limitation('Node.js', `${version}, which gets no more security fixes`, 'install Node.js 24')
}

/** Version of the C library, which decides which native parts load. */
function libc(): string {
  if (process.platform !== 'linux') return ''
  // The network is left out, because its names may take seconds to look up.
  Object.assign(process.report, { excludeNetwork: true })
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } }
  return header.glibcVersionRuntime === undefined ? ', musl' : `, glibc ${header.glibcVersionRuntime}`
}

/** Number of processors that the control group of a container allows; undefined without a limit. */
function processorQuota(): number | undefined {
  try {
    const [quota, period] = readFileSync('/sys/fs/cgroup/cpu.max', 'utf8').trim().split(' ')
    return quota === 'max' ? undefined : Number(quota) / Number(period)
  } catch {
    return undefined
  }
}

export function processorFinding(cores: number, quota = cores): Finding {
  const text = `${cores}${quota < cores ? `, limited to the time of ${Math.round(quota * 10) / 10}` : ''}`
  if (quota >= 2) return success('processors', text)
  return limitation('processors', text, 'give it two: one serves requests, the other writes, queries and functions')
}

export function memoryFinding(bytes: number, configuredBytes: number): Finding {
  const data = Math.min(configuredBytes, bytes / 2)
  const text = `${describeSize(bytes)}, up to ${describeSize(data)} for data (storage.memoryBytes)`
  if (bytes >= LITTLE_MEMORY) return success('memory', text)
  return limitation(
    'memory',
    text,
    'give it 1 GiB, or lower pool.heapBytes and functions.memoryBytes, of which each thread may use as much',
  )
}

export function filesFinding(files: number, connections: number): Finding {
  if (files === Number.POSITIVE_INFINITY) return success('open files', 'unlimited')
  const text = `${files}, enough for ${connections} connections`
  if (connections >= FEW_CONNECTIONS) return success('open files', text)
  return limitation('open files', text, 'raise the limit to 65536: ulimit -n, or LimitNOFILE of the service')
}

export function addressFinding(
  { mapSizeBytes, memoryBytes }: Pick<Config['storage'], 'mapSizeBytes' | 'memoryBytes'>,
  limit: number,
  used = usedAddressSpace() ?? 0,
): Finding {
  if (limit === Number.POSITIVE_INFINITY)
    return success('addresses', `unlimited; ${describeSize(mapSizeBytes)} for the store`)
  // A start with less reads everything from LMDB.
  const sharedBytes = memoryBytes > 0 && limit - used >= SHARED_BYTES ? SHARED_BYTES : 0
  const problem = addressSpaceProblem({ mapSizeBytes, fileBytes: 0 }, { limit, used: used + sharedBytes })
  if (problem === undefined)
    return success('addresses', `${describeSize(limit)}; ${describeSize(mapSizeBytes)} for the store`)
  const at = problem.lastIndexOf('; ')
  return fault('addresses', problem.slice(0, at), problem.slice(at + 2))
}

/** True if systemd has set the clock by NTP since the machine started; undefined if another program does. */
function isSynchronised(): boolean | undefined {
  return existsSync('/run/systemd/timesync') ? existsSync('/run/systemd/timesync/synchronized') : undefined
}

/** @param monotonic the time that has passed since the process started, added to the time of its start */
export function clockFinding(now: number, monotonic: number, isSynchronised?: boolean): Finding {
  const text = new Date(now).toISOString()
  const remedy = 'set the clock, by NTP: sessions, tokens, certificates and schedules depend on it'
  if (new Date(now).getUTCFullYear() < FIRST_YEAR) return fault('clock', `${text} is in the past`, remedy)
  const step = Math.round(now - monotonic)
  if (Math.abs(step) > STEP_MS) return limitation('clock', `${text}; it was just set by ${step} ms`, remedy)
  if (isSynchronised === false)
    return limitation('clock', `${text}, not synchronised since the machine started`, remedy)
  return success('clock', text)
}
