import { defineErrors, errorsWith } from '../../base/errors.ts'

/** Errors of the writer as a whole. */
export const WriterErrors = defineErrors('WRITER', {
  ...errorsWith({ errCode: 1046, http: 503 })({
    /** The client can repeat the request. */
    BUSY: (waiting: number, bytes: number) =>
      `the queue of writes is full (${waiting} waiting, ${bytes} bytes); try again in a moment`,
    CLOSED: () => 'the store is being closed; nothing was written',
    RESTARTING: () => 'the writer is being started again; nothing was written, try again in a moment',
    /** The thread is in the middle of a commit. */
    DISK_SILENT: () =>
      'the disk of the store does not complete a commit; nothing of this request was written, and writes resume when the disk responds',
    STALLED: () =>
      'the writer makes no progress; nothing of this request was written. If this lasts, end the process with SIGKILL and start it again',
    STORE_LOST: () => 'another process writes to this store; nothing was written, reading still works',
    DISK: (problem: string) => `${problem}; nothing of this was written, reading still works`,
    /** A transaction that plugin code drives has timed out. */
    TRANSACTION_OVER: (timeoutMs: number) =>
      `the transaction took longer than ${timeoutMs} ms and was rolled back; nothing of it was written`,
  }),
  ...errorsWith({ errCode: 1046, http: 500 })({
    FAILED: () => 'the writer failed; nothing of this was written, the log of the server tells why',
    TOO_DEEP: (limit: number) => `transactions are nested more than ${limit} deep`,
    OUTCOME_UNKNOWN: () =>
      'the writer stopped, or made no progress, before it answered, so this may have been written or not; read the entity before you repeat the request',
  }),
})
