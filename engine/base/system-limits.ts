import { readFileSync } from 'node:fs'

/**
 * Soft limit of this process, by its name in `/proc/self/limits`: `Max open files`, `Max address space`. Infinity if there is none, undefined
 * on systems other than Linux.
 */
export function softLimit(name: string): number | undefined {
  const text = textOf('/proc/self/limits')
  const limit = text
    ?.split('\n')
    .find(line => line.startsWith(name))
    ?.slice(name.length)
    .trim()
    .split(/\s+/)[0]
  if (limit === undefined) return undefined
  return limit === 'unlimited' ? Number.POSITIVE_INFINITY : Number(limit)
}

/** Address space that this process uses, in bytes; undefined on systems other than Linux. */
export function usedAddressSpace(): number | undefined {
  const kilobytes = /^VmSize:\s+(\d+) kB$/m.exec(textOf('/proc/self/status') ?? '')?.[1]
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1024
}

/** True if a thread of this process has mapped the file. @param path without symbolic links */
export const isMapped = (path: string): boolean =>
  (textOf('/proc/self/maps') ?? '').split('\n').some(line => line.endsWith(` ${path}`))

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
