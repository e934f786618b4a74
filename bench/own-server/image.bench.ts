import { setTimeout as delay } from 'node:timers/promises'
import { request } from 'undici'
import type { FixedAnswers, ServerQuestions } from '../processes/questions.ts'
import type { Child } from '../processes/child.ts'
import { megabytes, rate, ratio } from '../report/numbers.ts'
import { median } from '../report/report.ts'
import { askBytes, keepAsking } from './ask.ts'
import { ownServerCase } from './own-server-case.ts'
import { fileOf } from './file.ts'

const IMAGES = 16
const IMAGE_BYTES = 2_000_000
const CONNECTIONS = 64
const BOUND = 0.7
/** Maximum growth of memory from the first round to the last. */
const GROWTH_BYTES = 32 * 2 ** 20

/** Memory without pages of files, which the system can reclaim. */
export const memoryOf = async (child: Child<ServerQuestions>): Promise<number> => {
  const { resident, mapped = 0 } = await child.ask('memory', null)
  return resident - mapped
}

export default ownServerCase({
  name: 'image-2mb',
  title: `${IMAGES} images of 2 MB in turn, ${CONNECTIONS} connections`,
  async measure({ ours, bound, seconds, rounds }) {
    const paths: string[] = []
    const answers: FixedAnswers = new Map()
    for (let i = 0; i < IMAGES; i++) {
      const image = fileOf(IMAGE_BYTES, i, JPEG_START)
      const path = `/rest/Document(${i + 1})/image`
      await request(`http://127.0.0.1:${ours.port}/rest/Document`, { method: 'POST', body: '{}' })
      await request(`http://127.0.0.1:${ours.port}${path}?$rawPict=true`, { method: 'PUT', body: image })
      paths.push(`${path}?$imageformat=best`)
      answers.set(paths.at(-1)!, image)
      if (!image.equals(await askBytes(ours.port, paths.at(-1)!))) throw new Error(`wrong bytes for ${path}`)
    }
    await bound.child.ask('answers', answers)

    const rates = { ours: [] as number[], bound: [] as number[] }
    const memory: number[] = []
    // The first round is a warm-up.
    for (let round = 0; round <= rounds; round++) {
      for (const [name, { port }] of Object.entries({ ours, bound })) {
        const { perSecond } = await keepAsking(port, CONNECTIONS, paths, delay(seconds * 1000))
        if (round > 0) rates[name as keyof typeof rates].push(perSecond)
      }
      memory.push(await memoryOf(ours.child))
    }
    const [figure, goal] = [median(rates.ours), median(rates.bound)]
    const growth = Math.max(...memory) - memory[0]!
    return {
      lines: [
        `ours ${rate(figure)}/s, bound ${rate(goal)}/s, memory of ours ${megabytes(memory.at(-1)!)} after the last round`,
      ],
      verdicts: [
        { case: this.name, goal: `≥ ${ratio(BOUND)} bound`, found: ratio(figure / goal), met: figure / goal >= BOUND },
        {
          case: this.name,
          goal: `memory grows by ≤ ${megabytes(GROWTH_BYTES)}`,
          found: megabytes(growth),
          met: growth <= GROWTH_BYTES,
        },
      ],
    }
  },
})

const JPEG_START = Buffer.from('ffd8ffe000104a46494600', 'hex')
