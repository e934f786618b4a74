import { defineErrors, errorsWith } from '../../base/errors.ts'

/** Errors of the pool for valid queries. Source: protocol notes, 5.9; statuses by the design decisions. */
export const PoolErrors = defineErrors('POOL', {
  ...errorsWith({ errCode: 1200, http: 503 })({
    BUSY: (waiting: number) =>
      `the queue of queries is full (${waiting} waiting); try again in a moment, or narrow the query by an indexed attribute`,
    EXPORTS: (waiting: number) => `${waiting} exports wait for their turn; try again when one of them is done`,
    CLOSED: () => 'the store is being closed; reads are refused',
  }),
  ...errorsWith({ errCode: 1200, http: 500 })({
    /** The thread ended unexpectedly, or exceeded its memory limit. */
    THREAD_LOST: () =>
      'the thread that worked on the query ended unexpectedly and is replaced; narrow the query if it happens again',
  }),
})
