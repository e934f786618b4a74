import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { outputUrl } from '../../engine/base/output-root.ts'
import { modelWith } from '../support/fixtures/model-with.ts'

const model = (...more: string[]) => {
  const names = ['name', ...more].map(name => [name, { type: 'string' }])
  const attributes = { ID: { type: 'long', autoFill: 'increment' }, ...Object.fromEntries(names) }
  return JSON.stringify(modelWith({ Person: attributes }))
}

const PLUGIN = `import { definePlugin, json } from 'tesser'
import { route } from './route.ts'
export default definePlugin({
  name: 'acme',
  kernel: '^1.0.0',
  classes: new URL('./classes.ts', import.meta.url),
  register: scope => scope.route('/acme', { verbs: ['GET'] }, () => json(route)),
})
`
const classes = (result: string) => `import { DataClass, onHTTPGet } from 'tesser/classes'
export class Person extends DataClass('Person') {
  @onHTTPGet told() { return ${result} }
}
`

/** `tesser dev` in a folder with a plugin. */
async function startDev(t: Test) {
  const folder = t.testdir({
    'tesser.config.json': JSON.stringify({ model: 'model.json', plugins: ['./index.ts'], log: { pretty: true } }),
    'model.json': model(),
    'index.ts': PLUGIN,
    'route.ts': "export const route = 'first'",
    'classes.ts': classes('1'),
    'tesser-model.d.ts': '',
    'tsconfig.json': JSON.stringify({
      files: ['route.ts'],
      compilerOptions: { lib: ['es5'], types: [], skipLibCheck: true },
    }),
  })
  const args = [fileURLToPath(outputUrl('kernel/cli/main.js')), 'dev', '--port', '0']
  const child = spawn(process.execPath, [...args, '--storage-map-size-bytes', '64 MiB'], {
    cwd: folder,
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  let output = ''
  child.stdout.on('data', chunk => (output += chunk))
  /** Waits for the next line that matches. */
  const line = async (pattern: RegExp): Promise<RegExpExecArray> => {
    for (;;) {
      const match = pattern.exec(output)
      if (match) {
        output = output.slice(match.index + match[0].length)
        return match
      }
      await once(child.stdout, 'data')
    }
  }
  await line(/It restarts when/)
  const [, url] = await line(/^Explorer {2}(\S+)\/explorer\/$/m)
  return {
    line,
    write: (file: string, content: string) => writeFileSync(join(folder, file), content),
    read: (file: string) => readFileSync(join(folder, file), 'utf8'),
    get: async (path: string, init?: RequestInit) => (await fetch(`${url}${path}`, init)).json(),
    stop() {
      child.kill('SIGTERM')
      return once(child, 'exit')
    },
  }
}

t.test('tesser dev serves changed code, and keeps the old version when the new one cannot be used', async t => {
  const { line, read, write, get, stop } = await startDev(t)
  t.strictSame([await get('/acme'), await get('/rest/Person/told')], ['first', { result: 1 }])

  write('classes.ts', classes('2'))
  await line(/classes\.ts changed: restarted in \d+ ms/)
  t.strictSame(await get('/rest/Person/told'), { result: 2 }, 'a class')

  write('route.ts', "export const route = 'second'")
  await line(/route\.ts changed: restarted/)
  t.strictSame(await get('/acme'), 'second', 'a file that the plugin imports')

  write('model.json', model('nickname'))
  await line(/model\.json changed: restarted/)
  t.match(await get('/rest/$catalog/Person'), { attributes: [{}, {}, { name: 'nickname' }] }, 'the model')
  t.match(read('tesser-model.d.ts'), /nickname: string/, 'its types')

  const broken: [string, string, RegExp][] = [
    ['classes.ts', 'export class {', /the old version continues: .*classes\.ts:1:14\)/],
    ['index.ts', `${PLUGIN}throw new Error('not yet')`, /the old version continues: .*not yet \(.*index\.ts:9\)/],
    ['classes.ts', 'throw new Error("too early")', /the old version continues: .*too early/],
    ['index.ts', PLUGIN.replace("'/acme'", "'/health'"), /the old version continues: .*\/health/],
    ['model.json', '{', /the old version continues: [\s\S]*model/],
    ['tesser.config.json', '{"modle":"x"}', /the old version continues: [\s\S]*modle/],
  ]
  write('route.ts', "export const route: number = 'second'\nif (route === NaN) throw 1")
  await line(/route\.ts changed: restarted/)
  await line(/ warn .*NaN.* \(.*route\.ts:2:11\)/)
  await line(/TypeScript found errors; the server uses the code anyway:\n.*route\.ts\(1,14\): error TS2322/)

  for (const [file, content, message] of broken) {
    const good = read(file)
    write(file, content)
    await line(message)
    t.strictSame([await get('/acme'), await get('/rest/Person/told')], ['second', { result: 2 }], String(message))
    t.match(await get('/rest/$catalog/Person'), { attributes: [{}, {}, { name: 'nickname' }] })
    // Noticed together with the next write.
    write(file, good)
  }
  // The store is migrated to the new model before the plugin fails.
  await get('/rest/Person?$method=update', { method: 'POST', body: '{"name":"Ada"}' })
  write('index.ts', PLUGIN.replace("'/acme'", "'/health'"))
  await line(/the old version continues: .*\/health/)
  write('model.json', model('nickname').replace('"name":{', '"called":{"formerName":"name",'))
  await line(
    /and nothing is served until the next change: .*\/health[\s\S]*The old version cannot continue: .*lose data/,
  )
  write('index.ts', PLUGIN)
  await line(/index\.ts changed: restarted/)
  t.strictSame(await stop(), [0, null])
})

const hasPty = /util-linux/.test(String(spawnSync('script', ['--version']).stdout))

t.test('the log on a terminal is lines for people', { skip: !hasPty && 'script of util-linux is missing' }, async t => {
  const folder = t.testdir({
    'tesser.config.json': JSON.stringify({ model: 'model.json', plugins: ['./index.ts'] }),
    'model.json': model(),
    'index.ts': PLUGIN,
    'route.ts': "export const route = 'first'",
    'classes.ts': classes('(console.warn("told"), 1)'),
  })
  const command = `exec "${process.execPath}" "${fileURLToPath(outputUrl('kernel/cli/main.js'))}" dev --port 0 --storage-map-size-bytes "64 MiB"`
  const child = spawn('script', ['-qec', command, join(folder, 'typescript')], {
    cwd: folder,
    env: { PATH: process.env.PATH },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  let output = ''
  child.stdout.on('data', chunk => (output += chunk))
  const shown = async (pattern: RegExp) => {
    for (;;) {
      const match = pattern.exec(output)
      if (match) return match
      await once(child.stdout, 'data')
    }
  }
  const [, url] = await shown(/^Tesser is ready \(node-http\)\..*\s+Explorer {2}(\S+)\/explorer\/\s/m)
  await fetch(`${url}/rest/Person/told`)
  await shown(/^[\d:.]{12} warn {2}told {2}plugin=acme {2}class=Person {2}function=told\r?$/m)
  // Ctrl+C.
  child.stdin.write('\x03')
  t.strictSame(await once(child, 'close'), [0, null])
  t.notMatch(output, /\{"/)
})
