import type { StoreTransaction } from '../data/store-transaction.ts'
import { jobOf, LOOK_MS, type NewJob, ownKey, savedKey, storeJob } from './job.ts'

interface Context {
  readonly transaction: Pick<StoreTransaction, 'record' | 'putRecord'>
  /** Called when some of the jobs can run soon. */
  enqueued(): void
}

/**
 * Puts jobs into the queue, as part of a transaction. A job is left out if another job has its key.
 * @param now milliseconds since 1970
 * @param key `__KEY` of the entity that is saved, see {@link savedKey}
 * @returns the id of each job, or of the existing job with its key
 */
export function enqueueJobs(
  { transaction, enqueued }: Context,
  jobs: readonly NewJob[],
  now: number,
  key = '',
): string[] {
  if (jobs.some(({ at = now }) => at < now + LOOK_MS)) enqueued()
  return jobs.map(job => {
    const holder = job.key === undefined ? undefined : transaction.record(ownKey(job.name, job.key))
    if (holder !== undefined) return holder as string
    const args = job.args.replaceAll(JSON.stringify(savedKey(job.id)), () => JSON.stringify(key))
    for (const change of storeJob(jobOf({ ...job, args }, now))) transaction.putRecord(change)
    return job.id
  })
}
