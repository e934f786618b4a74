import { setTimeout as delay } from 'node:timers/promises'
import { CHECKS, PreparedVectors, QUESTIONS, Recall } from '../engine/prepared-vectors.ts'
import { pageOf } from '../engine/engine-case.ts'
import { oursPath } from '../http/http-case.ts'
import type { FixedAnswers } from '../processes/questions.ts'
import { rate, ratio } from '../report/numbers.ts'
import { median } from '../report/report.ts'
import { storeOf } from '../world/vector-world.ts'
import { askBytes, askJson, keepAsking } from './ask.ts'
import { ownServerCase } from './own-server-case.ts'
import { makePlace } from './place.ts'

const PLAN = { rows: 100_000, dimension: 128, clusters: 1_000 }
const NEAREST = 100
const CONNECTIONS = 8
const RECALL = 0.99
const WAIT_SECONDS = 60

let vectors: PreparedVectors

export default ownServerCase({
  name: 'http-vector-nearest-128',
  title: `the ${NEAREST} nearest by $params, ${PLAN.rows / 1000} k × ${PLAN.dimension}, ${CONNECTIONS} connections`,
  async place() {
    vectors = await PreparedVectors.of(PLAN)
    await PreparedVectors.close(PLAN)
    const { model, path } = await storeOf(vectors.world)
    return makePlace(model, path)
  },
  async measure({ ours, bound, seconds, rounds }) {
    const paths = Array.from({ length: QUESTIONS }, (_, n) => pathOf(vectors.question(n)))
    await waitForIndex(ours.port, paths[0]!)
    const recall = new Recall()
    const answers: FixedAnswers = new Map()
    for (const [n, path] of paths.entries()) {
      const answer = await askBytes(ours.port, path)
      answers.set(path, answer)
      const { count, keys } = pageOf(answer)
      if (count !== PLAN.rows) throw new Error(`question ${n}: the count is ${count} and not ${PLAN.rows}`)
      if (n < CHECKS) recall.add(vectors.nearest(n, NEAREST), keys)
    }
    await bound.child.ask('answers', answers)

    const rates = { ours: [] as number[], bound: [] as number[] }
    // The first round is a warm-up.
    for (let round = 0; round <= rounds; round++) {
      for (const [name, { port }] of Object.entries({ ours, bound })) {
        const { perSecond } = await keepAsking(port, CONNECTIONS, paths, delay(seconds * 1000))
        if (round > 0) rates[name as keyof typeof rates].push(perSecond)
      }
    }
    const [figure, most] = [median(rates.ours), median(rates.bound)]
    const recallText = recall.value.toFixed(4)
    return {
      lines: [`ours ${rate(figure)}/s at recall ${recallText}, bound ${rate(most)}/s (${ratio(figure / most)})`],
      verdicts: [{ case: this.name, goal: `recall ≥ ${RECALL}`, found: recallText, met: recall.value >= RECALL }],
    }
  },
})

const pathOf = (vector: Float32Array): string =>
  oursPath('Item', {
    $filter: '"embedding > :1"',
    // As clients write them: the shortest decimals of a Float32 have up to nine digits.
    $params: JSON.stringify([{ vector: Array.from(vector, number => Number(number.toPrecision(9))), threshold: null }]),
    $attributes: 'ID',
    $top: NEAREST,
  })

/** Waits for the index, which is loaded from its file some moments after the start. */
async function waitForIndex(port: number, path: string): Promise<void> {
  const isIndexed = async () =>
    JSON.stringify((await askJson(port, `${path}&$queryplan=true`)).__queryPlan).includes('[index')
  for (let i = 0; i < WAIT_SECONDS * 10; i++) {
    if (await isIndexed()) return
    await delay(100)
  }
  throw new Error(`no index after ${WAIT_SECONDS} s`)
}
