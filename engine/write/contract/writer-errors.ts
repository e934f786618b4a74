import { defineErrors } from '../../base/errors.ts'

/** Errors of the writer as a whole. */
export const WriterErrors = defineErrors('WRITER', {
  /** The client can repeat the request. */
  BUSY: {
    errCode: 1046,
    http: 503,
    message: (waiting: number, bytes: number) =>
      `the queue of writes is full (${waiting} waiting, ${bytes} bytes); try again in a moment`,
  },
  CLOSED: {
    errCode: 1046,
    http: 503,
    message: () => 'the store is being closed; nothing was written',
  },
  RESTARTING: {
    errCode: 1046,
    http: 503,
    message: () => 'the writer is being started again; nothing was written, try again in a moment',
  },
  /** The thread is in the middle of a commit. */
  DISK_SILENT: {
    errCode: 1046,
    http: 503,
    message: () =>
      'the disk of the store does not complete a commit; nothing of this request was written, and writes resume when the disk responds',
  },
  STALLED: {
    errCode: 1046,
    http: 503,
    message: () =>
      'the writer makes no progress; nothing of this request was written. If this lasts, end the process with SIGKILL and start it again',
  },
  STORE_LOST: {
    errCode: 1046,
    http: 503,
    message: () => 'another process writes to this store; nothing was written, reading still works',
  },
  DISK: {
    errCode: 1046,
    http: 503,
    message: (problem: string) => `${problem}; nothing of this was written, reading still works`,
  },
  FAILED: {
    errCode: 1046,
    http: 500,
    message: () => 'the writer failed; nothing of this was written, the log of the server tells why',
  },
  /** For a transaction that plugin code drives. */
  TRANSACTION_OVER: {
    errCode: 1046,
    http: 503,
    message: (timeoutMs: number) =>
      `the transaction took longer than ${timeoutMs} ms and was rolled back; nothing of it was written`,
  },
  TOO_DEEP: {
    errCode: 1046,
    http: 500,
    message: (limit: number) => `transactions are nested more than ${limit} deep`,
  },
  OUTCOME_UNKNOWN: {
    errCode: 1046,
    http: 500,
    message: () =>
      'the writer stopped, or made no progress, before it answered, so this may have been written or not; read the entity before you repeat the request',
  },
})
