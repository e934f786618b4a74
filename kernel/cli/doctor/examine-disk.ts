import { closeSync, existsSync, fdatasyncSync, openSync, rmSync, statfsSync, statSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describeSystemError } from '../../../engine/base/system-error.ts'
import { describeSize } from '../describe-size.ts'
import { fault, type Finding, limitation, success } from './finding.ts'

/** Names of file systems on which a memory map is not safe or not durable, by their numbers in `statfs`. */
const KINDS: ReadonlyMap<number, readonly [name: string, consequence: string]> = new Map([
  [0x6969, ['NFS', 'its memory maps are not coherent between machines, and its locks may be lost']],
  [0xff534d42, ['CIFS', 'its memory maps are not coherent between machines, and its locks may be lost']],
  [0xfe534d42, ['SMB', 'its memory maps are not coherent between machines, and its locks may be lost']],
  [0x517b, ['SMB', 'its memory maps are not coherent between machines, and its locks may be lost']],
  [0x01021997, ['9p, a folder of the host', 'it does not support memory maps that are written, and syncs slowly']],
  [0x65735546, ['FUSE', 'whether memory maps and syncs work depends on the program behind it']],
  [0x01021994, ['tmpfs', 'the data are gone when the machine restarts']],
  [0x858458f6, ['ramfs', 'the data are gone when the machine restarts']],
  [0x794c7630, ['overlay, the layer of a container', 'the data are gone when the container is removed']],
])

const SYNCS = 20
const BLOCK = Buffer.alloc(4096)
/** Time after which no further syncs are measured. */
const ENOUGH_MS = 500
const SLOW_SYNC_MS = 20
const LITTLE_BYTES = 2 ** 30
const NO_BYTES = 16 * 2 ** 20

/** Examines the disk of a store. Writes a small file, which it removes. @param data folder of the store, which need not exist */
export function examineDisk(data: string): Finding[] {
  const folder = existingFolder(data)
  try {
    const { bavail, bsize, type } = statfsSync(folder)
    const storeBytes = statSync(join(data, 'data.mdb'), { throwIfNoEntry: false })?.size ?? 0
    return [spaceFinding(data, bavail * bsize, storeBytes), kindFinding(type), syncFinding(median(syncTimes(folder)))]
  } catch (error) {
    const remedy = 'name another folder (--data), or give the user of the server the right to write there'
    return [fault('disk', `${folder} cannot be used: ${describeSystemError(error)}`, remedy)]
  }
}

/** The folder itself, or the nearest one above it that exists. */
function existingFolder(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : existingFolder(dirname(folder))
}

export function spaceFinding(data: string, freeBytes: number, storeBytes: number): Finding {
  const size = storeBytes > 0 ? `; the store has ${describeSize(storeBytes)}` : ''
  const text = `${describeSize(freeBytes)} free for ${data}${size}`
  if (freeBytes < NO_BYTES) return fault('disk space', text, 'free some space: nothing can be written')
  if (freeBytes >= Math.max(LITTLE_BYTES, storeBytes)) return success('disk space', text)
  return limitation('disk space', text, 'free some space: compacting and changed models need room for another copy')
}

export function kindFinding(type: number): Finding {
  const [name, consequence] = KINDS.get(type) ?? []
  if (consequence === undefined) return success('file system', 'local')
  return limitation('file system', `${name}: ${consequence}`, 'put the store on a local disk or a volume (--data)')
}

export function syncFinding(ms: number): Finding {
  const text = `a sync takes ${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`
  if (ms <= SLOW_SYNC_MS) return success('disk speed', text)
  const remedy = 'use a faster disk for many small writes; writes that wait at the same time share a sync'
  return limitation('disk speed', `${text}, and each write waits for one`, remedy)
}

/** Times in milliseconds that small writes took until they were durable. */
function syncTimes(folder: string): number[] {
  const path = join(folder, `.tesser-doctor-${process.pid}`)
  const file = openSync(path, 'wx', 0o600)
  try {
    const times: number[] = []
    const end = performance.now() + ENOUGH_MS
    while (times.length < SYNCS && (times.length === 0 || performance.now() < end)) {
      const start = performance.now()
      writeSync(file, BLOCK)
      fdatasyncSync(file)
      times.push(performance.now() - start)
    }
    return times
  } finally {
    closeSync(file)
    rmSync(path, { force: true })
  }
}

const median = (numbers: readonly number[]): number => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]!
