/** Reasons by the codes of Node.js and the numbers of LMDB, which are those of Linux. Each continues a sentence. */
const PROBLEMS: readonly (readonly [reason: string, ...codes: (string | number)[]])[] = [
  ['the disk of the store is full', 'ENOSPC', 28, 'EDQUOT', 122],
  ['a file of the store is as large as the system lets it be, so the disk of the store is full', 'EFBIG', 27],
  // LMDB reports a partial write as this.
  ['the disk of the store is full or failing', 'EIO', 5],
  ['the system has no more address space for the store than storage.mapSizeBytes', -30792],
  ['the folder of the store is on a disk that is mounted read-only', 'EROFS', 30],
  ['the folder of the store may not be written to by the user of the server', 'EACCES', 13, 'EPERM', 1],
  ['the folder of the store has been removed or replaced', 'ENOENT', 'ENOTDIR'],
  ['the server has as many files open as the system lets it', 'EMFILE', 24, 'ENFILE', 23],
]

/** Returns why the disk refused a write, in words fit for a client; undefined for errors of another kind. */
export function diskProblem(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined
  return PROBLEMS.find(([, ...codes]) => codes.includes(code as string | number))?.[0]
}
