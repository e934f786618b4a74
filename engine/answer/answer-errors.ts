import { defineErrors, errorsWith, type ProtocolError } from '../base/errors.ts'
import type { ByteBudget } from './byte-budget.ts'

/** `Retry-After` of these errors. */
export const RETRY_AFTER_SECONDS = 2

/** Errors about answers for which there is no room now. Source: protocol notes, 5.9; statuses by the design decisions. */
export const AnswerErrors = defineErrors('ANSWER', {
  ...errorsWith({ errCode: 1200, http: 503 })({
    /** Request bodies count as well. */
    NO_MEMORY: (limitBytes: number) =>
      `request bodies and answers in progress use all ${limitBytes} bytes of memory reserved for them (server.bufferBytes); try again in a moment`,
    NO_SPOOL: (limitBytes: number) =>
      `large answers in progress use all ${limitBytes} bytes of disk reserved for them (storage.spoolBytes); try again in a moment, or ask for smaller pages`,
    NO_EXPORT_SPACE: (limitBytes: number) =>
      `exports in progress, this one included, need more than the ${limitBytes} bytes of disk reserved for them (storage.exportBytes); try again when others are done, or export parts by $filter`,
    DISK: (problem: string) => `an answer of this size needs a file: ${problem}; ask for smaller pages`,
  }),
})

/** Error for a request that needs more memory than is left. */
export const noMemory = ({ limitBytes }: ByteBudget): ProtocolError =>
  AnswerErrors.NO_MEMORY(limitBytes).retryAfter(RETRY_AFTER_SECONDS)
