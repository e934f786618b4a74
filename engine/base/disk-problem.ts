/** Reasons by the codes of Node.js and the numbers of LMDB, which are those of Linux. Each continues a sentence. */
const PROBLEMS: readonly (readonly [reason: string, ...codes: (string | number)[]])[] = [
  ['the disk of the store is full', 'ENOSPC', 28, 'EDQUOT', 122],
  ['the disk of the store is full: a file has reached the maximum size that the system allows', 'EFBIG', 27],
  // LMDB reports a partial write as this.
  ['the disk of the store is full or failing', 'EIO', 5],
  ['the store has reached the address space reserved for it (storage.mapSizeBytes)', -30792],
  ['the folder of the store is on a disk that is mounted read-only', 'EROFS', 30],
  ['the user of the server has no permission to write to the folder of the store', 'EACCES', 13, 'EPERM', 1],
  ['the folder of the store has been removed or replaced', 'ENOENT', 'ENOTDIR'],
  ['the server has reached the number of open files that the system allows', 'EMFILE', 24, 'ENFILE', 23],
]

/** Returns why the disk refused a write, in words fit for a client; undefined for errors of another kind. */
export function diskProblem(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined
  return PROBLEMS.find(([, ...codes]) => codes.includes(code as string | number))?.[0]
}
