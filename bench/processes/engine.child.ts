import { ENGINE_CASES } from '../engine/cases.ts'
import type { EngineContext } from '../engine/engine-case.ts'
import { measureEngineCase } from '../engine/measure.ts'
import { openWorld } from '../world/tesser-store.ts'
import { World } from '../world/world.ts'
import { answerParent } from './answer-parent.ts'
import type { EngineQuestions } from './questions.ts'

/** The engine without a server, to measure its parts. */
let context: EngineContext | undefined

answerParent<EngineQuestions>({
  open: async ({ folder, seed, employees }) => {
    context = { engine: await openWorld(folder), world: new World(seed, employees) }
    return null
  },
  measure: ({ name, rounds }) => measureEngineCase(ENGINE_CASES.find(bench => bench.name === name)!, context!, rounds),
  close: async () => {
    await context?.engine.close()
    return null
  },
})
