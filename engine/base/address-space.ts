import { availableParallelism } from 'node:os'

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
