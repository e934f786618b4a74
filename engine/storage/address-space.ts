import { existsSync, realpathSync, statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { InputError } from '../base/input-error.ts'
import { isMapped, softLimit, usedAddressSpace } from '../base/system-limits.ts'
import type { StoreLocation } from '../data/store-options.ts'
import { DATA_FILE } from './data-file.ts'

const MIB = 2 ** 20
const GIB = 2 ** 30
/** Smallest map that an error recommends: a store outgrows a smaller one at once. */
const LEAST_BYTES = 64 * MIB

/** Address space for everything else: V8 ends the process when a thread finds none. Two cores needed 1.8 GiB. */
export const restBytes = (cores = availableParallelism()): number => GIB + (cores * GIB) / 2

/** Address space of this process in bytes. */
interface AddressSpace {
  readonly limit: number
  readonly used: number
}

/**
 * Checks that the memory map of a store fits into the address space before LMDB reserves it: if it doesn't, LMDB ends the process with a
 * signal and without a message.
 * @throws {InputError} naming the option
 */
export function requireAddressSpace({ path, mapSizeBytes }: StoreLocation): void {
  const limit = softLimit('Max address space') ?? Number.POSITIVE_INFINITY
  if (limit === Number.POSITIVE_INFINITY) return
  const file = join(path, DATA_FILE)
  const exists = existsSync(file)
  // Threads of a process share one map.
  if (exists && isMapped(realpathSync(file))) return
  const fileBytes = exists ? statSync(file).size : 0
  const problem = addressSpaceProblem({ mapSizeBytes, fileBytes }, { limit, used: usedAddressSpace() ?? 0 })
  if (problem !== undefined) throw new InputError(problem)
}

/** Returns why a store cannot be mapped, and what to do; undefined if it can. */
export function addressSpaceProblem(
  { mapSizeBytes, fileBytes }: { readonly mapSizeBytes: number; readonly fileBytes: number },
  { limit, used }: AddressSpace,
): string | undefined {
  const wanted = Math.max(mapSizeBytes, fileBytes)
  const free = limit - used - restBytes()
  if (wanted <= free) return undefined
  const fitting = 2 ** Math.floor(Math.log2(Math.max(free, 1)))
  const remedy =
    fitting >= Math.max(fileBytes, LEAST_BYTES)
      ? `set storage.mapSizeBytes (--storage-map-size-bytes "${sizeText(fitting)}"), or raise the limit`
      : 'raise the limit, or set storage.memoryBytes (--storage-memory-bytes 0), which otherwise reserves 10 GiB'
  return `the store reserves ${sizeText(wanted)} of address space, but this process is limited to ${sizeText(limit)} (ulimit -v) and needs a part of that for other things; ${remedy}`
}

const sizeText = (bytes: number): string =>
  bytes < GIB ? `${Math.floor(bytes / MIB)} MiB` : `${Math.floor((bytes / GIB) * 10) / 10} GiB`
