import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { company } from '../support/fixtures/company.ts'
import { startServer } from '../support/servers/test-server.ts'

/** Writes the files of plugins as an author would. @returns the paths of those in `load` */
function write(t: Test, files: Record<string, string>, load: readonly string[]): string[] {
  const folder = t.testdir({})
  for (const [name, source] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), source)
  }
  return load.map(name => join(folder, name))
}
const start = (t: Test, files: Record<string, string>, load: readonly string[]) =>
  startServer(t, company, { isChanged: true, config: { plugins: write(t, files, load), functions: { threads: 1 } } })
/** A plugin with one module of classes. */
const withClasses = (name: string): string => `
  import { definePlugin } from 'tesser'
  export default definePlugin({ name: '${name}', kernel: '^1.0.0', classes: new URL('./${name}-classes.ts', import.meta.url) })`

t.test('a plugin adds a dataclass to the model, with functions', async t => {
  const server = await start(
    t,
    {
      'notes.ts': `
        import { definePlugin } from 'tesser'
        import { NOTE } from './model.ts'
        export default definePlugin({
          name: 'notes', kernel: '^1.0.0', model: { dataClasses: { Note: NOTE } },
          classes: new URL('./notes-classes.ts', import.meta.url),
        })`,
      'model.ts': `export const NOTE = {
        key: 'ID',
        attributes: { ID: { type: 'long', autoFill: 'increment' }, text: { type: 'string' as const } },
      }`,
      'notes-classes.ts': `
        import { DataClass, exposed } from 'tesser/classes'
        export class Note extends DataClass('Note') {
          @exposed write(text: string) { const note = this.new({ text }); note.save(); return note }
        }`,
    },
    ['notes.ts'],
  )
  t.match((await server.post('/Note/write', ['hello'])).json, { __KEY: '1', text: 'hello' })
  t.match((await server.get('/Note(1)')).json, { text: 'hello' })
  t.match((await server.get('/$catalog/Note')).json, { methods: [{ name: 'write' }] })
})

const dataClass = (name: string, of: string) => `export default {
  name: '${of}', kernel: '^1.0.0',
  model: { dataClasses: { ${name}: { key: 'ID', attributes: { ID: { type: 'long' } } } } },
}`

t.test('a dataclass that the model file has too is refused', async t => {
  await t.rejects(start(t, { 'a.mjs': dataClass('City', 'a') }, ['a.mjs']), {
    message: 'plugin a adds the dataclass City, which the model file has too',
  })
})

t.test('a dataclass that two plugins add is refused', async t => {
  const files = { 'a.mjs': dataClass('Note', 'a'), 'b.mjs': dataClass('Note', 'b') }
  await t.rejects(start(t, files, ['a.mjs', 'b.mjs']), {
    message: 'plugin b adds the dataclass Note, which plugin a has too',
  })
})

t.test('hooks see every request and every answer, in the order of loading', async t => {
  const hooks = (name: string) => `export default {
    name: '${name}', kernel: '^1.0.0',
    register(scope) {
      scope.onRequest(request => request.header('x-${name}') ? { status: 418, body: '${name}' } : undefined)
      scope.onReply(reply => ({ ...reply, headers: { ...reply.headers, 'X-Seen': (reply.headers?.['X-Seen'] ?? '') + '${name}' } }))
    },
  }`
  const server = await start(t, { 'a.mjs': hooks('a'), 'b.mjs': hooks('b') }, ['a.mjs', 'b.mjs'])
  t.match(await server.get('/City(Paris)'), { status: 200, headers: { 'x-seen': 'ab' } })
  t.match(await server.get('/Nowhere'), { status: 404, headers: { 'x-seen': 'ab' } })
  t.match(await server.get('/City', { 'x-b': '1' }), { status: 418, text: 'b', headers: { 'x-seen': 'ab' } })
  t.match(await server.get('/City', { 'x-a': '1', 'x-b': '1' }), { status: 418, text: 'a' })
})

t.test('a hook that fails is an internal error of that request', async t => {
  const source = `export default { name: 'a', kernel: '^1.0.0', register(scope) {
    scope.onRequest(request => { if (request.path.endsWith('(Rome)')) throw new Error('inner secret') })
    scope.onReply((reply, request) => { if (request.path.endsWith('(Nice)')) throw new Error('inner secret'); return reply })
  } }`
  const server = await start(t, { 'a.mjs': source }, ['a.mjs'])
  for (const name of ['Rome', 'Nice']) {
    const { status, text } = await server.get(`/City(${name})`)
    t.equal(status, 500)
    t.notMatch(text, /inner secret/)
  }
  t.equal((await server.get('/City(Paris)')).status, 200)
})

const employee = (className: string, members: string) => `
  import { Entity, exposed } from 'tesser/classes'
  export class ${className} extends Entity('Employee') { ${members} }`

t.test('two plugins give functions to the same entities', async t => {
  const files = {
    'a.ts': withClasses('a'),
    'a-classes.ts': employee('A', '@exposed first() { return this.firstName }'),
    'b.ts': withClasses('b'),
    'b-classes.ts': employee(
      'B',
      '@exposed both() { return this.first() + " " + this.last } get last() { return this.lastName }',
    ),
  }
  const server = await start(t, files, ['a.ts', 'b.ts'])
  t.same((await server.post('/Employee(1)/first')).json, { result: 'Ada' })
  t.same((await server.post('/Employee(1)/both')).json, { result: 'Ada Lovelace' })
  t.match((await server.get('/$catalog/Employee')).json, { methods: [{ name: 'first' }, { name: 'both' }] })
})

const refused: [string, string, RegExp][] = [
  ['classes that do not parse', 'export class {', /^plugin b: .*b-classes\.ts cannot be loaded: /],
  [
    'classes that throw when they are loaded',
    `throw new Error('no licence')`,
    /^plugin b: .*b-classes\.ts cannot be loaded: no licence/,
  ],
  [
    'a module without classes',
    'export const a = 1',
    /^plugin b: .*b-classes\.ts cannot be loaded: it exports no class/,
  ],
  [
    'a module that ends its thread',
    'process.exit()',
    /^plugin b: .*b-classes\.ts cannot be loaded: its code ended the thread/,
  ],
  [
    'an import that does not exist',
    `import 'acme-nowhere'`,
    /^plugin b: .*b-classes\.ts cannot be loaded: .*acme-nowhere/,
  ],
  [
    'a function that another plugin has',
    employee('B', '@exposed first() {}'),
    /^plugin b: .*classes B and A both have first/,
  ],
  [
    'classes of an unknown dataclass',
    `import { Entity, exposed } from 'tesser/classes'\nexport class B extends Entity('Employe') { @exposed a() {} }`,
    /^ {2}- plugin b, .*b-classes\.ts:2: the class B is about "Employe", which the model does not have; did you mean "Employee"\?$/m,
  ],
]
for (const [name, source, message] of refused) {
  t.test(`${name} stop the start`, async t => {
    const files = {
      'a.ts': withClasses('a'),
      'a-classes.ts': employee('A', '@exposed first() { return 1 }'),
      'b.ts': withClasses('b'),
      'b-classes.ts': source,
    }
    await t.rejects(start(t, files, ['a.ts', 'b.ts']), { message })
  })
}
