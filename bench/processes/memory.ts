import { existsSync, readFileSync } from 'node:fs'
import type { Memory } from './questions.ts'

/** Memory of this process. */
export function memory(): Memory {
  const resident = process.memoryUsage.rss()
  if (!existsSync('/proc/self/status')) return { resident, mapped: undefined }
  const [, kilobytes] = /^RssFile:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  return { resident, mapped: kilobytes === undefined ? undefined : Number(kilobytes) * 1024 }
}

/** CPU time of this process so far, in microseconds. */
export function cpu(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}
