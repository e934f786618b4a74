import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, realpathSync, symlinkSync } from 'node:fs'
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
  /** Lines of the server. */
  readonly log: string[] = []
  private readonly env: NodeJS.ProcessEnv

  constructor(private readonly t: Test) {
    const parent = temporaryFolder(t)
    this.folder = join(parent, 'app')
    mkdirSync(this.folder)
    const others = Object.entries(process.env).filter(([name]) => !OF_RUNNER.test(name))
    this.env = { ...Object.fromEntries(others), PATH: linksIn(join(parent, 'bin')) }
  }

  /**
   * Installs with the cache of npm alone, or with the registry if the cache lacks a package.
   * @returns false if the registry does not answer
   */
  install(file: string, flags: readonly string[]): boolean {
    for (const source of ['--offline', '--prefer-offline']) {
      const words = ['install', file, source, ...flags, '--no-audit', '--no-fund', '--loglevel=error']
      const { status, stderr } = spawnSync('npm', words, { cwd: this.folder, env: this.env, encoding: 'utf8' })
      if (status === 0) return true
      if (!UNREACHABLE.test(stderr)) throw new Error(stderr)
    }
    return false
  }

  /** Starts `npx tesser`, which ends with the test. @returns its address */
  async serve(): Promise<string> {
    const env = { ...this.env, TESSER_PORT: '0' }
    const server = spawn('npx', ['tesser'], { cwd: this.folder, env, detached: true })
    const ended = once(server, 'exit')
    this.t.teardown(async () => {
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

/** Creates links to the programs that an installation needs. @returns the folder */
function linksIn(folder: string): string {
  mkdirSync(folder)
  symlinkSync(process.execPath, join(folder, 'node'))
  for (const name of ['npm', 'npx', 'sh', 'env']) symlinkSync(realpathSync(programOf(name)!), join(folder, name))
  return folder
}
