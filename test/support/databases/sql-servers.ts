import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import mysql from 'mysql2/promise'
import pg from 'pg'
import root from 'tap'
import { findPostgres } from '../../../bench/postgres/installation.ts'
import { type Cluster, startCluster } from '../../../bench/postgres/cluster.ts'

/** A database server for one test file. */
export interface SqlServer {
  readonly url: string
  /** Runs statements, separated by semicolons. */
  run(sql: string): Promise<void>
  stop(): Promise<void>
}

/** Nothing of a test has to outlive the machine. */
const FOR_TESTS = [
  'fsync = off',
  'synchronous_commit = off',
  'full_page_writes = off',
  'shared_buffers = 128MB',
  'max_connections = 500',
]

let cluster: Promise<Cluster> | undefined
let databases = 0

/** The server of this process: starting one takes a second. It ends with the root of tap. */
async function startShared(): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), 'tesser-postgres-'))
  // The server has a user of its own.
  chmodSync(folder, 0o755)
  const started = startCluster(folder, FOR_TESTS)
  // Registered before the teardowns of tests that use it, and so run after them.
  root.teardown(async () => {
    await (await started).stop()
    rmSync(folder, { recursive: true, force: true })
  })
  return started
}

/** An empty database. Roles are shared with the other files of the process. @returns the reason if there is none on this machine */
export async function startPostgres(): Promise<SqlServer | string> {
  const installation = findPostgres()
  if ('missing' in installation) return `PostgreSQL: ${installation.missing}`
  cluster ??= startShared()
  const { folder: host } = await cluster
  const database = `test${++databases}`
  const admin = new pg.Client({ host, user: 'bench', database: 'postgres' })
  await admin.connect()
  await admin.query(`CREATE DATABASE ${database} TEMPLATE template0`)
  await admin.end()
  const client = new pg.Client({ host, user: 'bench', database })
  await client.connect()
  return {
    url: `postgres://bench@/${database}?host=${encodeURIComponent(host)}`,
    run: async sql => void (await client.query(sql)),
    stop: () => client.end(),
  }
}

const FOLDERS = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin']
const program = (name: string): string | undefined =>
  FOLDERS.map(folder => join(folder, name)).find(path => existsSync(path))

/** Runs a server until its input ends, which is when this process ends, in whatever way. */
const WATCHDOG = `
  folder=$1; shift
  "$@" >/dev/null 2>&1 &
  echo $!
  cat >/dev/null
  kill -KILL $!
  wait
  rm -rf "$folder"
`

/** @returns the reason if there is none on this machine */
export async function startMariadb(): Promise<SqlServer | string> {
  const server = program('mariadbd')
  const install = program('mariadb-install-db')
  if (!server || !install) return 'MariaDB: it is not installed'
  const folder = mkdtempSync(join(tmpdir(), 'tesser-mariadb-'))
  const data = join(folder, 'data')
  const user = process.getuid?.() === 0 ? ['--user=root'] : []
  const made = spawnSync(install, [
    '--no-defaults',
    `--datadir=${data}`,
    '--auth-root-authentication-method=normal',
    '--skip-test-db',
    ...user,
  ])
  if (made.status !== 0) {
    rmSync(folder, { recursive: true, force: true })
    return `MariaDB: it cannot make a folder of data: ${made.stderr}`
  }
  const socket = join(folder, 's')
  const options = ['--no-defaults', `--datadir=${data}`, `--socket=${socket}`, '--skip-networking', ...user]
  const watchdog: ChildProcess = spawn('/bin/sh', ['-c', WATCHDOG, 'sh', folder, server, ...options], {
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const connection = await connect(socket)
  await connection.query('CREATE DATABASE shop CHARACTER SET utf8mb4')
  await connection.query('USE shop')
  return {
    url: `mariadb://root@/shop?socket=${encodeURIComponent(socket)}`,
    run: async sql => void (await connection.query(sql)),
    async stop() {
      connection.destroy()
      watchdog.stdin!.end()
      await once(watchdog, 'exit')
    },
  }
}

async function connect(socketPath: string): Promise<mysql.Connection> {
  for (let tries = 0; ; tries++) {
    try {
      return await mysql.createConnection({ socketPath, user: 'root', multipleStatements: true, charset: 'utf8mb4' })
    } catch (error) {
      if (tries > 200) throw error
      await delay(50)
    }
  }
}
