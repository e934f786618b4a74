import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdirSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { findPostgres, type Owner } from './installation.ts'

/**
 * Settings that an operator would choose on a machine of this size for one such table; all others keep PostgreSQL's defaults. Every commit
 * is synced to the disk before it is answered.
 */
const SETTINGS = [
  'fsync = on',
  'synchronous_commit = on',
  // Large enough for the table and its indexes.
  'shared_buffers = 1GB',
  // Avoids a checkpoint during the writes, after which every page would be written in full again; log files are reused.
  'max_wal_size = 4GB',
  'checkpoint_timeout = 15min',
  'min_wal_size = 1GB',
  // Clients come through a socket in the folder of the data.
  "listen_addresses = ''",
  "unix_socket_directories = '.'",
]

/**
 * Creates a cluster and runs it until the input ends, which is when this process ends for any reason: otherwise, a server whose parent was
 * killed would keep running. Then the folder is removed, or only its contents if the parent folder belongs to another user.
 */
const WATCHDOG = `
  bin=$1 folder=$2; shift 2
  trap '' PIPE # What reads its output may be gone.
  "$bin/initdb" -D "$folder" --auth=trust --username=bench --encoding=UTF8 --no-locale --no-sync >/dev/null && {
    printf '%s\\n' "$@" >>"$folder/postgresql.conf"
    "$bin/postgres" -D "$folder" >/dev/null &
    until "$bin/pg_isready" -q -h "$folder"; do kill -0 $! || break; sleep 0.1; done
    echo $!
    cat >/dev/null
    kill -QUIT $!
    wait
  }
  rm -rf "$folder"
`
const LOG_CHARACTERS = 2_000
/** Maximum length of the path of a folder with a socket: the system limits the path of the socket to 108 bytes. */
const MAX_FOLDER_LENGTH = 85
const TMPFS = 0x01021994

/** A server of PostgreSQL with an empty database, which clients reach as the user `bench`. */
export interface Cluster {
  /** The data and the socket. */
  folder: string
  /** Id of the main process of the server, the parent of all its other processes. */
  pid: number
  stop(): Promise<void>
}

/**
 * @param settings lines of `postgresql.conf` that override those of the benchmark
 * @throws {Error} with the output of the server if it does not start
 */
export async function startCluster(parent: string, settings: readonly string[] = []): Promise<Cluster> {
  const installation = findPostgres()
  if ('missing' in installation) throw new Error(installation.missing)
  const { bin, owner } = installation
  const folder = makeFolder(parent, owner)
  // A separate process group, which an interrupt from the terminal does not reach.
  const options = { ...owner, cwd: folder, detached: true, stdio: 'pipe' } as const
  const watchdog = spawn('/bin/sh', ['-c', WATCHDOG, 'sh', bin, folder, ...SETTINGS, ...settings], options)
  const exit = once(watchdog, 'exit')
  let log = ''
  watchdog.stderr.on('data', (text: Buffer) => {
    log = `${log}${text}`.slice(-LOG_CHARACTERS)
  })
  const pid = await Promise.race([firstLine(watchdog), exit.then(() => '0')])
  if (!isRunning(Number(pid))) {
    watchdog.stdin.end()
    await exit
    throw new Error(`it does not start: ${log}`)
  }
  return {
    folder,
    pid: Number(pid),
    stop: async () => {
      watchdog.stdin.end()
      await exit
    },
  }
}

const firstLine = async ({ stdout }: ChildProcess): Promise<string> =>
  (await once(createInterface(stdout!), 'line'))[0] as string

function isRunning(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0)
  } catch {
    return false
  }
}

/**
 * Creates an empty folder that belongs to the server's user: below `parent`, or below the folder for temporary files if the user cannot
 * reach `parent` or the path is too long.
 */
function makeFolder(parent: string, owner: Owner | undefined): string {
  const folder = join(parent, 'postgres')
  mkdirSync(folder)
  if (owner) chownSync(folder, owner.uid, owner.gid)
  const isReached = spawnSync('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], { ...owner, cwd: '/' }).status === 0
  if (isReached && folder.length <= MAX_FOLDER_LENGTH) return folder
  rmSync(folder, { recursive: true })
  if (statfsSync(tmpdir()).type === TMPFS) {
    throw new Error(`its user cannot reach ${folder}, and ${tmpdir()} is in memory, where nothing is durable`)
  }
  const temporary = mkdtempSync(join(tmpdir(), 'tesser-bench-'))
  if (owner) chownSync(temporary, owner.uid, owner.gid)
  return temporary
}
