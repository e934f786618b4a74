import { existsSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { addressSpaceProblem } from '../base/address-space.ts'
import { InputError } from '../base/input-error.ts'
import { isMapped, softLimit, usedAddressSpace } from '../base/system-limits.ts'
import type { StoreLocation } from '../data/store-options.ts'
import { DATA_FILE } from './data-file.ts'

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
