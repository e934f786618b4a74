/** The commands of the pages for operators do what these say, in their order, in one folder. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { request } from 'undici'
import { outputUrl } from '../../engine/base/output-root.ts'
import { programOf } from '../support/base/programs.ts'
import { modelWith } from '../support/fixtures/model-with.ts'

/** Commands that are not run here, by their first words, with the reason. */
const NOT_RUN: Readonly<Record<string, string>> = {
  'sudo ': 'another user',
  'docker ': 'containers',
  'kubectl ': 'a cluster',
  'systemctl ': 'the service under systemd; the server of this test is started and stopped in its place',
  'journalctl ': 'the log of systemd',
  'printf ': 'the configuration of journald',
  'npm ci ': 'packages from the network; the long run does the same for the image',
  'mv node_modules ': 'installs the result of the line before on the machine',
  'mv /opt/tesser ': 'the program of the machine',
  'export AWS_': 'a bucket',
  'tesser backup s3:': 'a bucket',
  'tesser restore s3:': 'a bucket',
}
/** Text that a command must print; others only have to end with status 0. */
const PRINTS: Readonly<Record<string, RegExp>> = {
  'tesser check --plan': /all right/,
  'tesser start --print-config': /"mapSizeBytes"/,
  'tesser compact': /data\.mdb had .* and has|cannot be made smaller/,
  'tesser backup backups': /^backup \d{8}T\d{9}Z in .*backups: full, /,
  'tesser backup verify backups': /^backup \d{8}T\d{9}Z is all right: /,
  'tesser backup list backups': /^\d{8}T\d{9}Z /m,
  'tesser restore backups --data store': /store has the state of /,
  'tesser check --data store': /store are all right/,
  'tesser check --model dump/model.json --data moved': /moved are all right/,
  'curl -fsS http://127.0.0.1:8080/health/ready': /"ready"/,
  'curl -fsS -H "Authorization: Bearer $(cat prometheus.key)" http://127.0.0.1:8080/metrics': /^tesser_ready 1$/m,
}
const MAIN = fileURLToPath(outputUrl('kernel/cli/main.js'))
const attributes = { ID: { type: 'long', autoFill: 'increment' }, text: { type: 'string' } }
const pages = ['deployment', 'backups'].map(name => readFileSync(`plugins/docs/pages/operate/${name}.md`, 'utf8'))
const commands = [...pages.join('\n').matchAll(/^( *)```sh\n([\s\S]*?)^ *```$/gm)].flatMap(([, indent, block]) =>
  block!
    .trimEnd()
    .split('\n')
    .map(line => line.slice(indent!.length)),
)
const isNotRun = (command: string) => Object.keys(NOT_RUN).find(words => command.startsWith(words))
const missing = ['curl', 'tar', 'df', 'du'].find(name => !programOf(name))

t.test('the page has commands, and each that is not run is named', async t => {
  t.ok(commands.length > 25, `${commands.length} commands`)
  const used = new Set(commands.map(isNotRun))
  for (const words of Object.keys(NOT_RUN)) t.ok(used.has(words), words)
  for (const command of Object.keys(PRINTS)) t.ok(commands.includes(command), command)
})

t.test('commands', { skip: missing ? `${missing} is not installed` : false }, async t => {
  const folder = t.testdir({
    'model.json': JSON.stringify(modelWith({ Note: attributes })),
    'tesser.config.json': JSON.stringify({
      model: 'model.json',
      data: 'store',
      auth: { directoryFile: 'tesser.directory.json' },
    }),
    'ada.password': 'correct horse battery staple\n',
  })
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'tesser'), `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`, { mode: 0o755 })
  const env = { PATH: `${bin}:${process.env.PATH}` }

  // A store with deleted rows.
  const first = await start(t, folder)
  const notes = JSON.stringify(Array.from({ length: 1_000 }, (_, i) => ({ text: `note ${i} ${'x'.repeat(1_000)}` })))
  const answer = await request(`${first.url}/rest/Note?$method=update`, { method: 'POST', body: notes })
  t.equal(answer.statusCode, 200)
  await answer.body.dump()
  const removed = await request(`${first.url}/rest/Note?$method=delete&$filter="ID>1"`.replaceAll('"', '%22'), {
    method: 'POST',
  })
  t.equal(removed.statusCode, 200)
  await removed.body.dump()
  await first.stop()

  let server: Awaited<ReturnType<typeof start>> | undefined
  for (const command of commands.filter(command => !isNotRun(command))) {
    const asks = command.startsWith('curl ')
    if (asks) server ??= await start(t, folder)
    else await server?.stop()
    if (!asks) server = undefined
    const text = server ? command.replace('http://127.0.0.1:8080', server.url) : command
    const { code, output } = await run(text, folder, env)
    t.equal(code, 0, `${command}: ${output}`)
    t.match(output, PRINTS[command] ?? /^/, command)
  }
  await server?.stop()
})

async function run(command: string, cwd: string, env: NodeJS.ProcessEnv): Promise<{ code: number; output: string }> {
  try {
    const { stdout, stderr } = await promisify(execFile)('sh', ['-ec', command], { cwd, env, maxBuffer: 2 ** 24 })
    return { code: 0, output: stdout + stderr }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
    return { code, output: stdout + stderr }
  }
}

/** The server of the folder, on a free port. */
async function start(t: Test, cwd: string): Promise<{ url: string; stop(): Promise<void> }> {
  const child = spawn(process.execPath, [MAIN, 'start', '--port', '0'], { cwd, env: { PATH: process.env.PATH } })
  t.teardown(() => child.kill('SIGKILL'))
  const ended = once(child, 'exit')
  for await (const line of createInterface(child.stdout)) {
    const url = /"url":"(http:[^"]+)"/.exec(line)?.[1]
    if (url === undefined) continue
    const stop = async () => {
      child.kill('SIGTERM')
      t.same(await ended, [0, null])
    }
    return { url, stop }
  }
  throw new Error('the server has not started')
}
