/** Shared memory of a pool: one entry for each task that its threads hold. */
export interface SlotWords {
  /** 1 if the answer of the task is no longer needed. */
  readonly cancelled: Int32Array
  /** Id of the thread that works on the task and may be terminated; 0 if there is none. */
  readonly worksAt: Int32Array
  /** Number of rows that the last task of the entry has examined. */
  readonly examined: Uint32Array
  /** Number of rows of the last task's page. */
  readonly sent: Uint32Array
  /** Run time of its last task, in milliseconds. */
  readonly ranMs: Float64Array
}

export const slotWords = (count: number): SlotWords => ({
  cancelled: new Int32Array(new SharedArrayBuffer(4 * count)),
  worksAt: new Int32Array(new SharedArrayBuffer(4 * count)),
  examined: new Uint32Array(new SharedArrayBuffer(4 * count)),
  sent: new Uint32Array(new SharedArrayBuffer(4 * count)),
  ranMs: new Float64Array(new SharedArrayBuffer(8 * count)),
})
