import { setTimeout as delay } from 'node:timers/promises'
import { megabytes, milliseconds, rate } from '../report/numbers.ts'
import { askBytes, askJson, keepAsking } from './ask.ts'
import { ownServerCase } from './own-server-case.ts'
import { fileOf } from './file.ts'
import { memoryOf } from './image.bench.ts'

const UPLOADS = 100
const UPLOAD_BYTES = 10_000_000
const READERS = 8
const DOCUMENTS = 1_000
const P99_MS = 10
const MEMORY_BYTES = 300 * 2 ** 20

export default ownServerCase({
  name: 'upload-100x10mb',
  title: `${UPLOADS} uploads of 10 MB at once, while ${READERS} connections read one entity`,
  async measure({ ours: { child, port }, upload }) {
    await askJson(port, '/rest/Document', Array(DOCUMENTS).fill({}))
    const paths = Array.from({ length: DOCUMENTS }, (_, i) => `/rest/Document(${i + 1})`)
    const alone = await keepAsking(port, READERS, paths, delay(1000))

    const idle = await memoryOf(child)
    let most = idle
    const uploading = upload.ask('upload', { port, count: UPLOADS, bytes: UPLOAD_BYTES })
    const watching = keepWatching(uploading, async () => {
      most = Math.max(most, await memoryOf(child))
    })
    const [{ ids, seconds }, reads] = await Promise.all([
      uploading,
      keepAsking(port, READERS, paths, uploading),
      watching,
    ])
    await check(port, ids)

    const addedBytes = most - idle
    return {
      lines: [
        `${megabytes((UPLOADS * UPLOAD_BYTES) / seconds)}/s, ${megabytes(addedBytes)} above ${megabytes(idle)} of memory; ` +
          `reads beside: ${rate(reads.perSecond)}/s, p99 ${milliseconds(reads.p99Ms)} ms; ` +
          `alone: ${rate(alone.perSecond)}/s, p99 ${milliseconds(alone.p99Ms)} ms`,
      ],
      verdicts: [
        {
          case: this.name,
          goal: `memory < ${megabytes(MEMORY_BYTES)} above idle`,
          found: megabytes(addedBytes),
          met: addedBytes < MEMORY_BYTES,
        },
        {
          case: this.name,
          goal: `p99 of the reads beside < ${P99_MS} ms`,
          found: `${milliseconds(reads.p99Ms)} ms`,
          met: reads.p99Ms < P99_MS,
        },
      ],
    }
  },
})

/** Attaches every upload, and compares all bytes of some. */
async function check(port: number, ids: readonly string[]): Promise<void> {
  for (const [i, ID] of ids.entries()) {
    const { __KEY } = await askJson(port, '/rest/Document?$method=update', { content: { ID } })
    if (i % 10 > 0) continue
    const bytes = await askBytes(port, `/rest/Document(${__KEY})/content?$binary=true`)
    if (!bytes.equals(fileOf(UPLOAD_BYTES, i))) throw new Error(`the bytes of upload ${i} are not those that were sent`)
  }
}

export async function keepWatching(until: Promise<unknown>, look: () => Promise<void>): Promise<void> {
  let isOver = false
  until.finally(() => {
    isOver = true
  })
  while (!isOver) {
    await look()
    await delay(10)
  }
}
