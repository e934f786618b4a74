/** PostgreSQL that a test ends without warning, and starts again on the same data. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import pg from 'pg'
import { type Cluster, startCluster } from '../../../bench/postgres/cluster.ts'
import { findPostgres } from '../../../bench/postgres/installation.ts'
import { until } from '../base/until.ts'

/** Runs the server again until the input ends, as it does at the latest when this process ends. */
const AGAIN = `
  bin=$1 folder=$2
  until "$bin/pg_isready" -q -h "$folder"; do
    kill -0 $server 2>/dev/null || { "$bin/postgres" -D "$folder" >/dev/null 2>&1 & server=$!; }
    sleep 0.1
  done
  echo $server
  cat >/dev/null
  kill -QUIT $server
  wait
`

export class MortalPostgres {
  private again: ChildProcess | undefined

  private constructor(
    private readonly cluster: Cluster,
    private readonly parent: string,
    private pid: number,
  ) {}

  /**
   * @param settings lines of `postgresql.conf`
   * @returns the reason if there is none on this machine
   */
  static async start(settings: readonly string[] = []): Promise<MortalPostgres | string> {
    const installation = findPostgres()
    if ('missing' in installation) return `PostgreSQL: ${installation.missing}`
    const parent = mkdtempSync(join(tmpdir(), 'tesser-postgres-'))
    // The server has a user of its own.
    chmodSync(parent, 0o755)
    const cluster = await startCluster(parent, settings)
    return new MortalPostgres(cluster, parent, cluster.pid)
  }

  get url(): string {
    return `postgres://bench@/postgres?host=${encodeURIComponent(this.cluster.folder)}`
  }

  get socket(): string {
    return join(this.cluster.folder, '.s.PGSQL.5432')
  }

  /** Runs a statement on a connection of its own. */
  async query(sql: string, values: readonly unknown[] = []): Promise<Record<string, unknown>[]> {
    const client = new pg.Client(this.url)
    await client.connect()
    try {
      return (await client.query(sql, [...values])).rows
    } finally {
      await client.end()
    }
  }

  /** Kills all processes of the server at once. */
  async kill(): Promise<void> {
    const pids = [this.pid, ...childrenOf(this.pid)]
    for (const pid of pids) end(pid)
    await until(() => !pids.some(isRunning))
  }

  /** Kills the server as soon as a condition in SQL is true. */
  async killWhen(condition: string): Promise<void> {
    const client = new pg.Client(this.url)
    client.on('error', () => {})
    await client.connect()
    while (!(await client.query(`SELECT ${condition} AS is_true`)).rows[0].is_true) {}
    await this.kill()
  }

  /** Starts the server that was killed. */
  async restart(): Promise<void> {
    await this.endAgain()
    const installation = findPostgres()
    if ('missing' in installation) throw new Error(installation.missing)
    const { bin, owner } = installation
    this.again = spawn('/bin/sh', ['-c', AGAIN, 'sh', bin, this.cluster.folder], {
      ...owner,
      cwd: this.cluster.folder,
      detached: true,
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    const [line] = await once(createInterface(this.again.stdout!), 'line')
    this.pid = Number(line)
  }

  async stop(): Promise<void> {
    await this.endAgain()
    await this.cluster.stop()
    rmSync(this.parent, { recursive: true, force: true })
  }

  private async endAgain(): Promise<void> {
    const { again } = this
    if (!again) return
    this.again = undefined
    again.stdin!.end()
    await once(again, 'exit')
  }
}

/** Processes of backends and of the background, all of them children of the server. */
const childrenOf = (pid: number): number[] =>
  readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(Number)
    .filter(each => statusOf(each)?.parent === pid)

const isRunning = (pid: number): boolean => !['Z', 'X', undefined].includes(statusOf(pid)?.state)

/** Source: proc(5), `/proc/pid/stat`: id, name in parentheses, state, parent. */
function statusOf(pid: number): { state: string; parent: number } | undefined {
  try {
    const [state, parent] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')
    return { state: state!, parent: Number(parent) }
  } catch {
    // It has ended.
    return undefined
  }
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}
