import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, realpathSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Test } from 'tap'
import { programOf } from '../support/base/programs.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'

/** Errors of npm for packages that its cache lacks, and for a registry that does not answer. */
const UNREACHABLE = /code (?:ENOTCACHED|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH)/
const LISTENING = /"url":"(http:[^"]+)".*"msg":"listening"/
/** Variables with which the runner of this test changes Node.js and Tesser. */
const OF_RUNNER = /^(?:NODE_OPTIONS$|TAP|TESSER_|npm_(?!config_))/

/** The folder of a user who installs the packed file, on a machine without a compiler, make and Python. */
export class InstalledPackage {
  readonly folder: string
  readonly env: NodeJS.ProcessEnv
  /** Lines of the server. */
  readonly log: string[] = []
  /** The cache of npm: its packages are those of the user who runs this test, but what npx installs is removed with the test. */
  private readonly cache: string

  constructor(t: Test) {
    const parent = temporaryFolder(t)
    this.folder = join(parent, 'app')
    this.cache = join(parent, 'cache')
    mkdirSync(this.folder)
    mkdirSync(this.cache)
    const cache = execFileSync('npm', ['config', 'get', 'cache'], { encoding: 'utf8' }).trim()
    mkdirSync(join(cache, '_cacache'), { recursive: true })
    symlinkSync(join(cache, '_cacache'), join(this.cache, '_cacache'))
    const others = Object.entries(process.env).filter(([name]) => !OF_RUNNER.test(name))
    this.env = {
      ...Object.fromEntries(others),
      PATH: linksIn(join(parent, 'bin')),
      npm_config_cache: this.cache,
      npm_config_audit: 'false',
      npm_config_fund: 'false',
      npm_config_loglevel: 'error',
    }
  }

  /** Folder in which npx has installed the packed file. */
  get folderOfNpx(): string {
    const parent = join(this.cache, '_npx')
    return join(parent, readdirSync(parent)[0]!)
  }

  /**
   * Runs a command that installs with the cache of npm alone, or with the registry if the cache lacks a package.
   * @param options of npm
   * @returns its output; undefined if the registry does not answer
   */
  install(command: string, options: NodeJS.ProcessEnv = {}, cwd = this.folder): string | undefined {
    for (const source of ['offline', 'prefer_offline']) {
      const env = { ...this.env, ...options, [`npm_config_${source}`]: 'true' }
      const { status, stdout, stderr } = spawnSync('sh', ['-c', command], { cwd, env, encoding: 'utf8' })
      if (status === 0) return stdout
      if (!UNREACHABLE.test(stderr)) throw new Error(stderr)
    }
    return undefined
  }

  /** Starts `npx tesser` in a folder, which ends with the test. @returns its address */
  async serve(t: Test, cwd: string): Promise<string> {
    const env = { ...this.env, TESSER_PORT: '0' }
    const server = spawn('npx', ['tesser'], { cwd, env, detached: true })
    const ended = once(server, 'exit')
    t.teardown(async () => {
      if (server.exitCode === null) process.kill(-server.pid!, 'SIGTERM')
      await ended
    })
    server.stderr.on('data', (text: Buffer) => this.log.push(String(text)))
    const listening = new Promise<string>(found => {
      createInterface(server.stdout).on('line', line => {
        this.log.push(line)
        const [, url] = LISTENING.exec(line) ?? []
        if (url) found(url)
      })
    })
    const url = await Promise.race([listening, ended])
    if (typeof url === 'string') return url
    throw new Error(`the server ended: ${this.log.join('\n')}`)
  }
}

/** Creates links to the programs that an installation and the page of the first hour need. @returns the folder */
function linksIn(folder: string): string {
  mkdirSync(folder)
  symlinkSync(process.execPath, join(folder, 'node'))
  for (const name of ['npm', 'npx', 'sh', 'env', 'curl', 'cat', 'mv']) {
    const program = programOf(name)
    if (program) symlinkSync(realpathSync(program), join(folder, name))
  }
  return folder
}
