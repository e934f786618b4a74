// What function threads, which ask, and the thread of the model, which answers, have in common.

/** @param {string} weights models of several servers of one process may differ */
export const channelOf = weights => `tesser-example-semantic ${weights}`

/** Numbers of a vector: those of the Universal Sentence Encoder. */
export const DIMENSION = 512

/** States of a request, in shared memory; from DONE on it has ended. */
export const WAITING = 0
export const TAKEN = 1
export const DONE = 2
export const FAILED = 3
