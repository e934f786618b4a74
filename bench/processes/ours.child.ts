import { createServer, type Server } from '../../kernel/main.ts'
import { worldConfig } from '../world/tesser-store.ts'
import { answerParent } from './answer-parent.ts'
import { memory } from './memory.ts'
import type { ServerQuestions } from './questions.ts'

/** Tesser as `tesser start` runs it. */
let server: Server | undefined

answerParent<ServerQuestions>({
  start: async ({ folder }) => {
    const startedAt = performance.now()
    server = await createServer(worldConfig(folder))
    await server.engine.memoryFilled()
    return { port: server.port, transport: server.transport, readyMs: performance.now() - startedAt }
  },
  memory: () => ({ ...memory(), shared: server?.engine.memoryUse() }),
  close: async () => {
    await server?.close()
    return null
  },
})
