import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { outputUrl } from '../../engine/base/output-root.ts'
import { Inspector } from '../support/clients/inspector.ts'

const MODEL = JSON.stringify({
  name: 'people',
  dataClasses: {
    Person: { key: 'ID', attributes: { ID: { type: 'long', autoFill: 'increment' }, name: { type: 'string' } } },
  },
})

const PLUGIN = `import { definePlugin } from 'tesser'
export default definePlugin({ name: 'acme', kernel: '^1.0.0', classes: new URL('./classes.ts', import.meta.url) })
`

const CLASSES = `import { setTimeout } from 'node:timers/promises'
import { DataClass, exposed, onHTTPGet, request } from 'tesser/classes'
import { shout } from './shout.ts'

interface Named { readonly name: string }

export class Person extends DataClass('Person') {
  @onHTTPGet greet(name: string): string {
    const named: Named = { name }
    return shout(named.name)
  }

  @exposed({ deadlineSeconds: 0.1 }) async waits() {
    const { signal } = request
    console.log('begun')
    await setTimeout(600_000, undefined, { signal }).catch((error: Error) => console.log('ended by ' + error.name))
  }
}
`

const SHOUT = `type Text = string

export function shout(text: Text): Text {
  return text.toUpperCase() + '!'
}
`

const lineOf = (source: string, text: string): number => source.slice(0, source.indexOf(text)).split('\n').length

/** `tesser dev` with a plugin, and a debugger. */
async function startDebugged(t: Test) {
  const folder = t.testdir({
    'my plugin': {
      'tesser.config.json': JSON.stringify({
        ...{ model: 'model.json', plugins: ['./index.ts'], functions: { threads: 1 } },
        storage: { mapSizeBytes: '64 MiB', memoryBytes: 0 },
      }),
      ...{ 'model.json': MODEL, 'index.ts': PLUGIN, 'classes.ts': CLASSES, 'shout.ts': SHOUT },
    },
  })
  const cwd = join(folder, 'my plugin')
  const main = fileURLToPath(outputUrl('kernel/cli/main.js'))
  const child = spawn(process.execPath, ['--inspect=127.0.0.1:0', main, 'dev', '--port', '0'], {
    cwd,
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  let output = ''
  const told = new EventTarget()
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', chunk => {
      output += chunk
      told.dispatchEvent(new Event('told'))
    })
  }
  const line = async (pattern: RegExp): Promise<RegExpExecArray> => {
    for (;;) {
      const match = pattern.exec(output)
      if (match) return match
      await once(told, 'told')
    }
  }
  const [address] = await line(/ws:\/\/\S+/)
  const [, url] = await line(/"url":"(http:[^"]+)"/)
  const inspector = await Inspector.attach(address)
  t.teardown(() => inspector.close())
  const fileUrl = (name: string): string => pathToFileURL(join(cwd, name)).href
  return { inspector, url, line, fileUrl }
}

t.test('breakpoints in TypeScript files of a plugin are reached, in its class and in what that imports', async t => {
  const { inspector, url, fileUrl } = await startDebugged(t)
  const places: [file: string, line: number, expression: string, value: unknown][] = [
    [fileUrl('classes.ts'), lineOf(CLASSES, 'return shout'), 'named.name', 'kurt'],
    [fileUrl('shout.ts'), lineOf(SHOUT, 'return text'), 'text', 'kurt'],
  ]
  for (const [file, line] of places) {
    const [script, ...more] = await inspector.breakAt(file, line)
    // The pattern in the launch.json of new plugins.
    t.match(script, /\/tesser-plugins-[^/]+\/[^/]+\.mjs$/)
    t.same(more, [])
  }
  const answer = fetch(`${url}/rest/Person/greet?$params=["kurt"]`)
  for (const [file, line, expression, value] of places) {
    const stop = await inspector.stopped()
    t.match(stop, { file, line })
    t.equal(await stop.evaluate(expression), value)
    await stop.resume()
  }
  t.same(await (await answer).json(), { result: 'KURT!' })
})

t.test('a client that goes while code is at a breakpoint fires the signal of its request', async t => {
  const { inspector, url, line, fileUrl } = await startDebugged(t)
  await inspector.breakAt(fileUrl('classes.ts'), lineOf(CLASSES, "console.log('begun')"))
  const client = new AbortController()
  const gone = fetch(`${url}/rest/Person/waits`, { method: 'POST', body: '[]', signal: client.signal })
  const stop = await inspector.stopped()
  client.abort()
  await t.rejects(gone)
  // Past the deadline of the function, which does not end it.
  await new Promise(resolve => setTimeout(resolve, 300))
  await stop.resume()
  await line(/begun/)
  t.match(await line(/ended by \w+/), ['ended by AbortError'])
})

t.test('the launch.json of a new plugin names the bundles', t => {
  const { configurations } = JSON.parse(readFileSync('config/plugin-template/.vscode/launch.json', 'utf8'))
  for (const configuration of configurations) {
    t.match(configuration, {
      type: 'node',
      outFiles: [],
      resolveSourceMapLocations: ['**/tesser-plugins-*/**'],
      runtimeSourcemapPausePatterns: ['**/tesser-plugins-*/*.mjs'],
    })
  }
  const { program } = configurations[0]
  const { bin } = JSON.parse(readFileSync('package.json', 'utf8'))
  t.equal(program, `\${workspaceFolder}/node_modules/tesser/${bin.tesser}`)
  t.end()
})
