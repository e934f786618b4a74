import type { ServerRecords } from '../../engine/index.ts'

const SLICE_RECORDS = 500

/** Records whose keys begin with `prefix`, in slices: the caller may wait after each, and records may change meanwhile. */
export function* recordSlices(records: ServerRecords, prefix: string): Generator<ReturnType<ServerRecords['list']>> {
  for (let after = prefix; ; ) {
    const slice = records.list(prefix, SLICE_RECORDS, after)
    yield slice
    if (slice.length < SLICE_RECORDS) return
    after = slice.at(-1)!.key
  }
}
