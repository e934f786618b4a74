import { startBaseline } from '../baseline/server.ts'
import { answerParent } from './answer-parent.ts'
import { cpu, memory } from './memory.ts'
import type { ServerQuestions } from './questions.ts'

/** Fastify and SQLite. */
let close = async (): Promise<void> => {}

answerParent<ServerQuestions>({
  start: async ({ folder }) => {
    const server = await startBaseline(folder)
    close = server.close
    return { port: server.port }
  },
  memory,
  cpu,
  close: async () => {
    await close()
    return null
  },
})
