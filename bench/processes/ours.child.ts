import { resolve } from 'node:path'
import { createServer, type Server } from '../../kernel/main.ts'
import { worldConfig } from '../world/tesser-store.ts'
import { answerParent } from './answer-parent.ts'
import { cpu, memory } from './memory.ts'
import type { ServerQuestions } from './questions.ts'

/** Class functions on the world. A bench runs in the folder of the repository. */
const FUNCTIONS = resolve('bench/world/functions/index.ts')

/** Tesser as `tesser start` runs it. */
let server: Server | undefined

answerParent<ServerQuestions>({
  start: async ({ folder, employees }) => {
    const startedAt = performance.now()
    const config = worldConfig(folder)
    // Cases with a separate store use a different model.
    const functions = employees > 0 ? [{ specifier: FUNCTIONS }] : []
    server = await createServer({ ...config, plugins: [...config.plugins, ...functions] })
    server.engine.warmUp()
    await server.engine.parts.writer.memoryFilled
    return { port: server.port, transport: server.transport, readyMs: performance.now() - startedAt }
  },
  memory: () => ({ ...memory(), shared: server?.engine.parts.heap?.usedBytes() }),
  cpu,
  close: async () => {
    await server?.close()
    return null
  },
})
