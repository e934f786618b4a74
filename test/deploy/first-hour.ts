import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import type { Test } from 'tap'

const TRY_AGAIN_MS = 100
const HERE = 'http://127.0.0.1:8080'
const page = readFileSync('plugins/docs/pages/start/first-hour.md', 'utf8')
/** Blocks with the line before them, which may name the file of a block. */
const blocks = [...page.matchAll(/([^\n]*)\n\n```(\w*)\n([\s\S]*?)^```$/gm)]
const [creation] = /^npx .*\.tgz .*$/m.exec(page)!
const runsTypeScript = (process.features as { typescript?: string | false }).typescript === 'strip'

/** The command of the page that creates the application, from a packed file. */
export const creationFrom = (file: string): string => creation.replace(/\S+\.tgz/, file)

/** The place in which the page is played. */
export interface Place {
  /** The folder in which {@link creationFrom} has run. */
  readonly folder: string
  readonly env: NodeJS.ProcessEnv
  /** Output of that command. */
  readonly created: string
  /** Does what `npm install` does in the folder of the application. */
  install(application: string): void
}

/** Writes every file of the page and runs every command, in their order: each answers as the page says. */
export async function playFirstHour(t: Test, place: Place): Promise<void> {
  let { folder } = place
  let port = '0'
  let server: Server | undefined
  let count = 0
  let triesLeft = 500
  const env = () => ({ ...place.env, TESSER_PORT: port, TESSER_LOG_PRETTY: 'true' })
  const here = (text: string) => text.replaceAll(HERE, `http://127.0.0.1:${port}`)
  const run = (command: string) => {
    const { stdout } = spawnSync('sh', ['-ec', `exec 2>&1; ${here(command)}`], {
      cwd: folder,
      env: env(),
      encoding: 'utf8',
    })
    return stdout
  }
  for (const [, before, language, content] of blocks) {
    const name = /^\/\/ (\S+\.ts)\n/.exec(content!)?.[1] ?? /`([\w.]+)`:$/.exec(before!)?.[1]
    if (language !== 'sh') {
      if (name) writeFileSync(join(folder, name), here(content!))
      continue
    }
    if (before!.startsWith('Stop the server with Ctrl+C')) await server?.stop()
    for (const [, command = '', comments = ''] of content!.matchAll(/^(?!#)(.*)\n((?:# .*\n)*)/gm)) {
      count += 1
      if (command === 'npm install') place.install(folder)
      else if (command.startsWith('cd ')) folder = join(folder, command.slice('cd '.length))
      else if (command === 'npx tesser start') {
        server = await startServer(t, folder, env())
        port = server.port
      } else if (runsTypeScript || !/ node \S+\.ts$/.test(command)) {
        const wanted = pattern(comments.replaceAll(/^# /gm, '').trimEnd())
        let output = command === creation ? place.created : run(command)
        // The server reads changed files of roles and users within a second.
        while (command.startsWith('curl ') && !wanted.test(output) && triesLeft-- > 0) {
          await delay(TRY_AGAIN_MS)
          output = run(command)
        }
        t.match(output, wanted, command)
      }
    }
  }
  t.ok(count > 30, `${count} commands`)
  await server?.stop()
}

/** `…` stands for anything, and so does no answer. */
function pattern(answer: string): RegExp {
  if (answer === '') return /^/
  const parts = answer.split(/…\n?/).map(part => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
  return new RegExp(`^${parts.join('[\\s\\S]*')}\n?$`)
}

interface Server {
  readonly port: string
  /** Like Ctrl+C in a terminal, whose signal reaches npx and the server. */
  stop(): Promise<void>
}

async function startServer(t: Test, cwd: string, env: NodeJS.ProcessEnv): Promise<Server> {
  const npx = spawn('npx', ['tesser', 'start'], { cwd, env, detached: true })
  const ended = once(npx, 'close')
  const lines: string[] = []
  const started = new Promise<string>(resolve => {
    createInterface(npx.stdout).on('line', line => {
      lines.push(line)
      const [, port] = /^Explorer {2}http:\/\/127\.0\.0\.1:(\d+)\/explorer\/$/.exec(line) ?? []
      if (port) resolve(port)
    })
  })
  npx.stderr.on('data', (text: Buffer) => lines.push(String(text)))
  const signal = (name: NodeJS.Signals) => {
    if (npx.exitCode === null && npx.signalCode === null) process.kill(-npx.pid!, name)
  }
  t.teardown(() => signal('SIGKILL'))
  const port = await Promise.race([started, ended])
  if (typeof port !== 'string') throw new Error(`the server ended: ${lines.join('\n')}`)
  const stop = async () => {
    signal('SIGINT')
    await ended
    t.match(lines.at(-1), / stopped$/)
  }
  return { port, stop }
}
