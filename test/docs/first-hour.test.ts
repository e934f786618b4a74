/** The first hour: every file of the page is written, every command is run, in their order, and answers as the page says. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import t, { type Test } from 'tap'
import { outputUrl } from '../../engine/base/output-root.ts'
import { programOf } from '../support/base/programs.ts'
import { until } from '../support/base/until.ts'

const MAIN = fileURLToPath(outputUrl('kernel/cli/main.js'))
const HERE = 'http://127.0.0.1:8080'
const page = readFileSync('plugins/docs/pages/start/first-hour.md', 'utf8')
/** Blocks with the text before them, which may name the file of a block. */
const blocks = [...page.matchAll(/([^\n]*)\n\n```(\w*)\n([\s\S]*?)^```$/gm)]

const missing = programOf('curl') ? undefined : 'curl is not installed'

t.test('the first hour', { skip: missing ?? false }, async t => {
  const folder = t.testdir({ bin: {} })
  writeFileSync(join(folder, 'bin/tesser'), `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`, { mode: 0o755 })
  const run = commandsIn(folder)
  let server: Awaited<ReturnType<typeof start>> | undefined
  let count = 0
  for (const [, before, language, content] of blocks) {
    const name = /^\/\/ (\S+\.ts)\n/.exec(content!)?.[1] ?? /`([\w.]+)`:$/.exec(before!)?.[1]
    if (language !== 'sh') {
      if (name) writeFileSync(join(folder, name), content!)
      continue
    }
    for (const [, command = '', comments = ''] of content!.matchAll(/^(?!#)(.*)\n((?:# .*\n)*)/gm)) {
      count += 1
      if (command === 'tesser start') {
        await server?.stop()
        server = await start(t, folder)
        continue
      }
      const wanted = pattern(comments.replaceAll(/^# /gm, '').trimEnd())
      const text = command
        .replace('tesser export ', `tesser export --url ${HERE}/rest `)
        .replace(HERE, server?.url ?? HERE)
      let output = await run(text)
      // The server reads changed files of roles and users within a second.
      if (command.startsWith('curl ')) {
        await until(async () => {
          if (wanted.test(output)) return true
          output = await run(text)
          return false
        })
      }
      t.match(output, wanted, command)
    }
  }
  t.ok(count > 20, `${count} commands`)

  const report = join(folder, 'report.ts')
  writeFileSync(report, readFileSync(report, 'utf8').replace(HERE, server!.url))
  await build({
    entryPoints: [report],
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile: join(folder, 'report.mjs'),
  })
  const [, shown] = /node report\.ts\n([\s\S]*?)```/.exec(page)!
  t.equal(await run(`TESSER_KEY="$(cat app.key)" node report.mjs`), shown!.replaceAll(/^# /gm, ''))
  await server!.stop()
})

function commandsIn(cwd: string): (command: string) => Promise<string> {
  const env = { PATH: `${join(cwd, 'bin')}:${process.env.PATH}` }
  return async command => {
    const { stdout } = await promisify(execFile)('sh', ['-ec', `exec 2>&1; ${command}`], { cwd, env })
    return stdout
  }
}

/** `…` stands for anything. */
function pattern(answer: string): RegExp {
  const parts = answer.split(/…\n?/).map(part => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
  return new RegExp(parts.join('[\\s\\S]*'))
}

/** The server of the folder, on a free port. */
async function start(t: Test, cwd: string): Promise<{ url: string; stop(): Promise<void> }> {
  const child = spawn(process.execPath, [MAIN, 'start', '--port', '0', '--log-pretty', 'true'], {
    cwd,
    env: { PATH: process.env.PATH },
  })
  t.teardown(() => child.kill('SIGKILL'))
  const ended = once(child, 'exit')
  for await (const line of createInterface(child.stdout)) {
    const url = /^Explorer {2}(http:\S+)\/explorer\/$/.exec(line)?.[1]
    if (url === undefined) continue
    const stop = async () => {
      child.kill('SIGTERM')
      t.same(await ended, [0, null])
    }
    return { url, stop }
  }
  throw new Error('the server has not started')
}
