import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { outputUrl } from '../../engine/base/output-root.ts'
import { hashPassword } from '../../kernel/auth/password.ts'
import { startCluster } from '../postgres/cluster.ts'
import { DEMO_MODEL, fillDemoTables } from './demo-tables.ts'
import { type RoundRobinProxy, startRoundRobin } from './round-robin.ts'

export const USER = { name: 'ada', password: 'correct horse' }

/** A server in a separate process, which can be killed and restarted. */
class Node {
  url = ''
  private child: ChildProcess | undefined

  constructor(
    readonly name: string,
    private readonly folder: string,
  ) {}

  get pid(): number | undefined {
    return this.child?.pid
  }

  /** @throws {Error} with the output of the server if it does not start */
  async start(): Promise<void> {
    const main = fileURLToPath(outputUrl('kernel/cli/main.js'))
    const file = join(this.folder, 'tesser.config.json')
    const child = spawn(process.execPath, [main, 'start', '--config', file], { stdio: ['ignore', 'pipe', 'inherit'] })
    this.child = child
    let log = ''
    this.url = await new Promise((resolve, reject) => {
      createInterface(child.stdout).on('line', line => {
        log = `${log}${line}\n`.slice(-4_000)
        const url = /"url":"(http[^"]+)".*"listening"/.exec(line)?.[1]
        if (url) resolve(url)
      })
      child.once('exit', () => reject(new Error(`${this.name} does not start: ${log}`)))
    })
  }

  /** @param signal `SIGKILL` ends it immediately */
  async stop(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    const { child } = this
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    child.kill(signal)
    await once(child, 'exit')
  }
}

/** Servers with one database, behind a proxy. */
interface Nodes {
  readonly proxy: RoundRobinProxy
  readonly nodes: readonly Node[]
  close(): Promise<void>
}

/**
 * Starts servers that share a new PostgreSQL server with the movies of the demo.
 * @param port of the proxy; 0 for any
 * @throws {Error} PostgreSQL is not installed, or something does not start
 */
export async function startNodes(count: number, port: number): Promise<Nodes> {
  const folder = mkdtempSync(join(tmpdir(), 'tesser-nodes-'))
  const resources: { close(): Promise<void> }[] = []
  const close = async (): Promise<void> => {
    for (const each of resources.splice(0).reverse()) await each.close()
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    const nodes: Node[] = []
    // A port in use is noticed before anything is started.
    const proxy = await startRoundRobin(() => nodes.map(node => node.url), port)
    resources.push(proxy)
    // The PostgreSQL server runs as a different user.
    chmodSync(folder, 0o755)
    const cluster = await startCluster(folder)
    resources.push({ close: () => cluster.stop() })
    await fillDemoTables(cluster.folder)
    const url = `postgres://bench@/postgres?host=${encodeURIComponent(cluster.folder)}`
    const password = await hashPassword(USER.password)
    const newNodes = Array.from({ length: count }, (_, i) => {
      const name = `node${i + 1}`
      const nodeFolder = join(folder, name)
      mkdirSync(nodeFolder)
      writeFileSync(join(nodeFolder, 'model.json'), JSON.stringify(DEMO_MODEL))
      writeFileSync(
        join(nodeFolder, 'tesser.directory.json'),
        JSON.stringify({ users: [{ name: USER.name, password }] }),
      )
      writeFileSync(join(nodeFolder, 'tesser.config.json'), JSON.stringify(configOf(url)))
      return new Node(name, nodeFolder)
    })
    resources.push({ close: async () => void (await Promise.all(newNodes.map(node => node.stop()))) })
    await Promise.all(newNodes.map(node => node.start()))
    nodes.push(...newNodes)
    return { proxy, nodes, close }
  } catch (error) {
    await close()
    throw error
  }
}

const configOf = (url: string) => ({
  model: 'model.json',
  connections: { main: { url } },
  nodes: { connection: 'main' },
  server: { port: 0, trustedProxies: ['loopback'] },
})
