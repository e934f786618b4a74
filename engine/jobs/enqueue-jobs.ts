import type { StoreTransaction } from '../data/store-transaction.ts'
import { jobOf, type NewJob, ownKey, storeJob } from './job.ts'

/**
 * Puts jobs into the queue, as part of a transaction. One whose key another job has is left out.
 * @param now milliseconds since 1970
 * @returns the id of each, or of the job that has its key
 */
export function enqueueJobs(
  transaction: Pick<StoreTransaction, 'record' | 'putRecord'>,
  jobs: readonly NewJob[],
  now: number,
): string[] {
  return jobs.map(job => {
    const holder = job.key === undefined ? undefined : transaction.record(ownKey(job.name, job.key))
    if (holder !== undefined) return holder as string
    for (const change of storeJob(jobOf(job, now))) transaction.putRecord(change)
    return job.id
  })
}
