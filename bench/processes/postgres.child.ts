import { remoteUrl } from '../postgres/database.ts'
import { startPostgres } from '../postgres/server.ts'
import { World } from '../world/world.ts'
import { answerParent } from './answer-parent.ts'
import { cpu, cpuOf, memory, memoryOf, withChildren } from './memory.ts'
import type { ServerQuestions } from './questions.ts'

/** Fastify and PostgreSQL, whose processes are measured too. */
let server: Awaited<ReturnType<typeof startPostgres>> | undefined

const processes = (): number[] => (server ? withChildren(server.cluster.pid) : [])

answerParent<ServerQuestions>({
  start: async ({ folder, seed, employees }) => {
    server = await startPostgres(folder, new World(seed, employees))
    return { port: server.port, url: remoteUrl(server.cluster) }
  },
  memory: () => {
    const { resident, mapped } = memory()
    const database = memoryOf(processes())
    return {
      resident: resident + database.resident,
      mapped: mapped === undefined ? undefined : mapped + database.mapped,
    }
  },
  cpu: () => cpu() + cpuOf(processes()),
  close: async () => {
    await server?.close()
    return null
  },
})
