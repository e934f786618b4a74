import { readFileSync } from 'node:fs'
import type { Environment } from './environment.ts'

interface Holder {
  pid: number
  /** When that process started, in ticks since the machine did; empty where the system does not tell. */
  started: string
  token: string
}

/** Says who takes a store. Tokens tell apart the servers of one process, whose process id is the same. */
export interface LockOwner {
  token: string
  /** Tokens in use in this process, by whoever else. */
  otherTokens: readonly string[]
}

/**
 * Takes the store for this server. The holder stands in the store itself, because a LMDB transaction compares and sets in
 * one step; a holder that was killed is recognised by its process id and start time, so nothing has to be tidied up.
 * @returns releases it; call it before the environment is closed
 * @throws {Error} when a running process has it
 */
export function lockStore({ meta, root }: Environment, { token, otherTokens }: LockOwner): () => void {
  const own: Holder = { pid: process.pid, started: startOf(process.pid) ?? '', token }
  root.transactionSync(() => {
    const holder = meta.get('holder') as Holder | undefined
    if (holder && (holder.pid === process.pid ? otherTokens.includes(holder.token) : isRunning(holder))) {
      throw new Error(
        `the store is in use by process ${holder.pid}; stop it first, two servers cannot write to one store`,
      )
    }
    meta.putSync('holder', own)
  })
  return () => {
    if ((meta.get('holder') as Holder | undefined)?.token === token) meta.removeSync('holder')
  }
}

/** True when a running process has the store. */
export function isInUse({ meta }: Environment): boolean {
  const holder = meta.get('holder') as Holder | undefined
  return holder !== undefined && isRunning(holder)
}

function isRunning({ pid, started }: Holder): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    // EPERM: it runs under another user.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false
  }
  const now = startOf(pid)
  return started === '' || now === undefined || now === started
}

/** Field 22 of `/proc/{pid}/stat`, counted behind the name in brackets, which may hold anything. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  } catch {
    // Not on Linux, or the process is gone.
    return undefined
  }
}
