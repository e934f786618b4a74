import { ftruncateSync, writeSync } from 'node:fs'
import { AnswerErrors, RETRY_AFTER_SECONDS } from './answer-errors.ts'
import type { ByteBudget } from './byte-budget.ts'
import { diskProblem } from '../base/disk-problem.ts'

const diskError = (problem: string) => AnswerErrors.DISK(problem).retryAfter(RETRY_AFTER_SECONDS)

/** Writes an answer to a file that the kernel thread has opened. Descriptors are valid in all threads of a process. */
export class SpoolWriter {
  size = 0

  constructor(
    /** Undefined if no file could be opened. */
    private readonly file: number | undefined,
    private readonly disk: ByteBudget,
    private readonly isExport: boolean,
  ) {}

  /** @throws {ProtocolError} {@link AnswerErrors} */
  write(bytes: Uint8Array): void {
    if (this.file === undefined) throw diskError('the server could not make one, and its log says why')
    const size = this.size + bytes.byteLength
    if (!this.disk.tryGrow(this.size, size)) {
      const { limitBytes } = this.disk
      const error = this.isExport ? AnswerErrors.NO_EXPORT_SPACE(limitBytes) : AnswerErrors.NO_SPOOL(limitBytes)
      throw error.retryAfter(RETRY_AFTER_SECONDS)
    }
    const start = this.size
    this.size = size
    try {
      for (let at = 0; at < bytes.byteLength; ) {
        at += writeSync(this.file, bytes, at, bytes.byteLength - at, start + at)
      }
    } catch (error) {
      const problem = diskProblem(error)
      throw problem === undefined ? error : diskError(problem)
    }
  }

  /** Empties the file. */
  discard(): void {
    if (this.size === 0) return
    try {
      ftruncateSync(this.file!, 0)
    } catch {
      // The next answer overwrites it: the size of an answer is independent of the size of the file.
    }
    this.disk.release(this.size)
    this.size = 0
  }
}
