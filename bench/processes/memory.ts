import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { Memory } from './questions.ts'

/** Positions of fields in `/proc/{pid}/stat`, counted from the state, which follows the name. */
const PARENT = 1
/** CPU time of the process, user and system, and of its children that have ended. */
const TIMES = [11, 15] as const
const MICROSECONDS_PER_TICK = 10_000

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

/** A process and its children; empty if the system does not report them. */
export function withChildren(parent: number): number[] {
  const processes = existsSync('/proc/self/stat') ? readdirSync('/proc').map(Number).filter(Boolean) : []
  return processes.filter(pid => pid === parent || statOf(pid)?.[PARENT] === parent)
}

/** Memory of other processes; pages that they share are counted once. */
export function memoryOf(processes: readonly number[]): { resident: number; mapped: number } {
  const rollups = processes.map(pid => contentOf(`/proc/${pid}/smaps_rollup`) ?? '')
  const sum = (name: string): number =>
    sumOf(rollups.map(text => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0))) * 1024
  return { resident: sum('Pss'), mapped: sum('Pss_File') }
}

/** CPU time of other processes so far, in microseconds. */
export const cpuOf = (processes: readonly number[]): number =>
  sumOf(processes.flatMap(pid => statOf(pid)?.slice(...TIMES) ?? [])) * MICROSECONDS_PER_TICK

function statOf(pid: number): number[] | undefined {
  const text = contentOf(`/proc/${pid}/stat`)
  // The name of a program may have spaces and parentheses.
  return text
    ?.slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
}

/** Content of a file in `/proc`; undefined if the process has ended. */
function contentOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0)
