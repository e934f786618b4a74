import type { ErrorData } from '../base/errors.ts'

export const KEY_EXISTS = 1545
const ENTITY_NOT_FOUND = 1543

/** Advice for rows, by error code, in place of the advice in messages to send `__KEY` and `__STAMP`, or neither. */
const ADVICE: ReadonlyMap<number, string> = new Map([
  [KEY_EXISTS, '; loaded as an update, the row changes it'],
  [ENTITY_NOT_FOUND, ''],
])

/** Reasons for a file of errors. */
export const rowReasons = ({ entries }: ErrorData): string[] =>
  entries.map(({ errCode, message }) => {
    const advice = ADVICE.get(errCode)
    return advice === undefined ? message : message.replace(/; [^;]*__STAMP[^;]*$/, advice)
  })
