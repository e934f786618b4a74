import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { request } from 'undici'
import { megabytes, rate } from '../report/numbers.ts'
import { median } from '../report/report.ts'
import { MODEL } from '../world/model.ts'
import { prepareWorld } from '../world/prepare.ts'
import { World } from '../world/world.ts'
import { memoryOf } from './image.bench.ts'
import { ownServerCase } from './own-server-case.ts'
import { makePlace } from './place.ts'
import { keepWatching } from './uploads.bench.ts'

const ROWS = 100_000
const PATH = '/rest/Employee?$format=ndjson'
const ROWS_PER_SECOND = 100_000
const MEMORY_BYTES = 64 * 2 ** 20
const SLOW_READERS = 4
/** Pause of a slow reader after each piece of the answer. */
const PAUSE_MS = 5

export default ownServerCase({
  name: 'http-lines',
  title: `${ROWS / 1000} k entities as lines ($format=ndjson)`,
  async place() {
    const folder = await prepareWorld(new World(1, ROWS), () => {})
    return makePlace(MODEL, join(folder, 'store'))
  },
  async measure({ ours, bound, rounds }) {
    const first = await read(ours.port)
    if (first.lines !== ROWS) throw new Error(`the answer has ${first.lines} lines and not ${ROWS}`)
    await bound.child.ask('answers', new Map([[PATH, first.bytes!]]))
    const rates = { ours: [] as number[], bound: [] as number[] }
    for (let round = 0; round <= rounds; round++) {
      for (const [name, { port }] of Object.entries({ ours, bound })) {
        const { seconds, digest } = await read(port)
        if (digest !== first.digest) throw new Error(`the bytes of ${name} are not those of the first answer`)
        if (round > 0) rates[name as keyof typeof rates].push(ROWS / seconds)
      }
    }

    const idle = await memoryOf(ours.child)
    let most = idle
    const reading = Promise.all(Array.from({ length: SLOW_READERS }, () => read(ours.port, PAUSE_MS)))
    await keepWatching(reading, async () => {
      most = Math.max(most, await memoryOf(ours.child))
    })
    const figure = median(rates.ours)
    const addedBytes = most - idle
    return {
      lines: [
        `ours ${rate(figure)} rows/s, bound ${rate(median(rates.bound))} rows/s of ${megabytes(first.size)}; ` +
          `${megabytes(addedBytes)} above ${megabytes(idle)} of memory with ${SLOW_READERS} slow readers`,
      ],
      verdicts: [
        {
          case: this.name,
          goal: `≥ ${rate(ROWS_PER_SECOND)} rows/s`,
          found: rate(figure),
          met: figure >= ROWS_PER_SECOND,
        },
        {
          case: this.name,
          goal: `memory < ${megabytes(MEMORY_BYTES)} above idle`,
          found: megabytes(addedBytes),
          met: addedBytes < MEMORY_BYTES,
        },
      ],
    }
  },
})

interface Read {
  readonly seconds: number
  readonly lines: number
  readonly size: number
  readonly digest: string
  /** Undefined for a slow reader. */
  readonly bytes: Buffer | undefined
}

/** Reads the whole answer. @param pauseMs after each piece */
async function read(port: number, pauseMs = 0): Promise<Read> {
  const startedAt = performance.now()
  const { body, statusCode } = await request(`http://127.0.0.1:${port}${PATH}`)
  if (statusCode !== 200) throw new Error(`${PATH} is answered with ${statusCode}`)
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of body as AsyncIterable<Buffer>) {
    size += piece.length
    if (pauseMs === 0) pieces.push(piece)
    else await delay(pauseMs)
  }
  const seconds = (performance.now() - startedAt) / 1000
  const bytes = Buffer.concat(pieces)
  let lines = 0
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) lines++
  const digest = createHash('sha256').update(bytes).digest('hex')
  return { seconds, lines, size, digest, bytes: pauseMs === 0 ? bytes : undefined }
}
