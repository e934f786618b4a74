import inspector from 'node:inspector'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { startConfigured } from '../support/servers/configured-server.ts'
import { insertRows } from '../../kernel/testing.ts'

const INDEX = `import { definePlugin } from 'tesser'
export default definePlugin({ name: 'acme', kernel: '^1.0.0', classes: ['./classes.ts', './more.ts'].map(each => new URL(each, import.meta.url)) })`

const CLASSES = `import { calculated, DataClass, ds, Entity, EntitySelection, event, exposed, onHTTPGet, queryOf, Singleton } from 'tesser/classes'
import { fail } from './fail.ts'

console.log('loading', import.meta.url.endsWith('classes.ts'))
export function configure() { console.info('configured') }

export class Employee extends DataClass('Employee') {
  @exposed breaks() { const a = 1; if (a) fail('of a function') }
  @exposed outer() { console.log('outer'); this.inner(); console.log('outer again') }
  @exposed inner() { console.log('inner') }
  @exposed talks() {
    console.debug('debugging %d', 1)
    console.warn('a warning')
    console.error(new Error('shown').message)
    console.table([{ a: 1 }])
    console.group('group')
    console.log('inside')
    console.groupEnd()
    console.log({ nested: { object: [1, 2] } })
  }
  @exposed talksMuch() { for (let i = 0; i < 1000; i++) console.log(i) }
  @exposed talksLong() { console.log('x'.repeat(100_000)) }
  @exposed failsLater() { setTimeout(() => fail('later')); return 'done' }
  @exposed rejectsLater() { void Promise.reject(new Error('floating')); return 'done' }
  @exposed throwsText() { throw 'just a text' }
  @exposed({ deadlineSeconds: 0.3 }) loops() { console.log('before'); for (;;); }
  @exposed({ deadlineSeconds: 0.1 }) pauses() {
    const until = Date.now() + 1_000
    while (Date.now() < until);
    return ds.transaction(() => ds.Employee.all().length)
  }
  @exposed causes() {
    try { fail('first') } catch (cause) { throw new Error('second', { cause }) }
  }
}
export class City extends DataClass('City') {
  @event('restrict') own() { fail('of a restrict event'); return null }
}
export class EmployeeEntity extends Entity('Employee') {
  @calculated({ type: 'string' }) get fullName(): string { console.log('computing'); return fail('of an attribute') }
  @queryOf('fullName') byFullName() { return fail('of a handler') }
  @event('validateSave') check() { if (this.lastName === 'fails') fail('of an event'); console.log('checked') }
  @event('saving', 'salary') salarySaved() { if (this.salary === 1) fail('of an attribute event') }
  @event('afterSave') saved() { if (this.lastName === 'late') fail('too late') }
}
export class EmployeeSelection extends EntitySelection('Employee') {}
export class Basket extends Singleton {
  @exposed add() { console.log('added'); fail('of a singleton') }
}
export class Company extends DataClass('Company') {
  @exposed misspells() { return this.query('infos.size > 3').length }
  @exposed compares() { return this.query('founded > :1', 'soon').length }
  @exposed adds() { return this.all().sum('name') }
  @exposed assigns() { this.new({ nmae: 'x' }) }
  @exposed waits() { return ds.transaction(async () => {}) }
  @exposed async waitsLater() { await null; return ds.transaction(async () => {}) }
}
export class CompanyEntity extends Entity('Company') {
  @calculated({ type: 'string' }) get label(): string { return this.name ?? '' }
  @queryOf('label') byLabel() { return 'nmae = x' }
  @calculated({ type: 'number' }) get size(): number { return 'large' as any }
}`
/** A second module with classes for the same subjects. */
const MORE = `import { DataStore, Entity, event, exposed, job } from 'tesser/classes'
export class Hooks extends DataStore { @exposed hook() { console.log('hooked') } }
export class Streams extends DataStore {
  @exposed progress() { console.log('going on'); (this as any).hook(); console.log('further') }
  @exposed async forgets() { void Streams.wait(); return 1 }
  @job({ attempts: 2, backoffSeconds: 0.01 }) async forgetting() { void Streams.wait() }
  @job({ attempts: 2, backoffSeconds: 0.01 }) failing() { throw new Error('as always') }
  @exposed put(name: 'forgetting' | 'failing') { return (this as any).enqueue(this[name]) }
  static async wait() { await new Promise(() => {}) }
}
export class Dropped extends Entity('Employee') { @event('dropping') last() { console.log('last') } }`
const FAIL = `
export function fail(what: string): never {
  const error = new TypeError(what); if (what) throw error
  throw error
}`

/** Line and column of the code that fails with this message. */
function positionOf(message: string): string {
  const before = CLASSES.slice(0, CLASSES.indexOf(`fail('${message}')`)).split('\n')
  return `${before.length}:${before.at(-1)!.length + 1}`
}

interface Line {
  level: string
  msg: string
  plugin?: string
  class?: string
  function?: string
  event?: string
  attribute?: string
  job?: string
  attempt?: number
  err?: { type: string; message: string; stack: string }
}

async function start(t: Test) {
  const folder = t.testdir({ 'index.ts': INDEX, 'classes.ts': CLASSES, 'fail.ts': FAIL, 'more.ts': MORE })
  const lines: Line[] = []
  const { server, ask } = await startConfigured(t, {
    folder,
    fixture: { rows: {} },
    onLine: line => void lines.push(JSON.parse(line)),
    config: { plugins: ['./index.ts'], functions: { threads: 1, deadlineSeconds: 20 } },
  })
  return {
    folder,
    engine: server.engine,
    take: () => lines.splice(0),
    /** Log lines of plugins that a request causes. */
    async post(path: string, body: unknown = []) {
      lines.splice(0)
      const { text } = await ask(`/rest${path}`, { body: JSON.stringify(body) })
      return { text, lines: lines.filter(({ plugin }) => plugin === 'acme') }
    },
  }
}

t.test('log lines name plugin, class, function, event and attribute, and the place in the source', async t => {
  const { post, folder, engine, take } = await start(t)
  const loading = take().filter(({ plugin }) => plugin === 'acme')
  t.match(loading, [
    { level: 'info', msg: 'loading true', plugin: 'acme' },
    { level: 'info', msg: 'configured', plugin: 'acme', function: 'configure' },
  ])
  await insertRows(engine.saves, 'Employee', [{ ID: 1, lastName: 'Lovelace' }])

  const failures: [string, string, unknown, object, string][] = [
    ['a function', '/Employee/breaks', [], { class: 'Employee', function: 'breaks' }, 'of a function'],
    [
      'an event',
      '/Employee?$method=update',
      { lastName: 'fails' },
      { class: 'EmployeeEntity', function: 'check', event: 'validateSave' },
      'of an event',
    ],
    [
      'an event of an attribute',
      '/Employee?$method=update',
      { lastName: 'x', salary: 1 },
      { class: 'EmployeeEntity', function: 'salarySaved', event: 'saving', attribute: 'salary' },
      'of an attribute event',
    ],
    [
      'an event after the save',
      '/Employee?$method=update',
      { lastName: 'late' },
      { class: 'EmployeeEntity', function: 'saved', event: 'afterSave' },
      'too late',
    ],
    [
      'a calculated attribute',
      '/Employee/$query',
      { $attributes: 'fullName' },
      { class: 'EmployeeEntity', attribute: 'fullName' },
      'of an attribute',
    ],
    [
      'a query handler',
      '/Employee/$query',
      { $filter: 'fullName = Ada' },
      { class: 'EmployeeEntity', function: 'byFullName', attribute: 'fullName' },
      'of a handler',
    ],
    [
      'a restrict event',
      '/City/$query',
      {},
      { class: 'City', function: 'own', event: 'restrict' },
      'of a restrict event',
    ],
    ['a singleton', '/$singleton/Basket/add', [], { class: 'Basket', function: 'add' }, 'of a singleton'],
  ]
  for (const [name, path, body, place, message] of failures) {
    const { lines, text } = await post(path, body)
    const errors = lines.filter(({ level }) => level === 'error')
    t.match(errors, [{ plugin: 'acme', ...place, err: { message } }], `${name}: ${text.slice(0, 200)}`)
    const { stack } = errors[0]!.err!
    t.match(stack.split('\n')[1], `at fail (${join(folder, 'fail.ts')}:3:17)`, name)
    t.notMatch(stack, /subclass/)
    t.ok(stack.includes(`${join(folder, 'classes.ts')}:${positionOf(message)})`), `${name}: ${stack}`)
    t.notMatch(text, /classes\.ts/)
  }

  const text = await post('/Employee/throwsText')
  const err = { type: 'a thrown string', message: '"just a text"' }
  t.match(text.lines, [{ level: 'error', class: 'Employee', function: 'throwsText', err }])
  const causes = await post('/Employee/causes')
  t.equal(causes.lines[0]!.err!.type, 'Error')
  t.match(causes.lines[0]!.err!.stack, /Error: second\n[\s\S]*caused by TypeError: first\n[\s\S]*classes\.ts:33:11/)
})

t.test('misuse of the data API is logged for its author, without details for the client', async t => {
  const { post, folder, engine } = await start(t)
  await insertRows(engine.saves, 'Company', [{ ID: 1, name: 'Acme' }])
  const inClass = (name: string) => ({ class: 'Company', function: name })
  const mistakes: [path: string, body: unknown, place: object, message: RegExp, code?: RegExp][] = [
    ['/Company/misspells', [], inClass('misspells'), /"infos" not found in class "Company"; did you mean "info"\?/],
    ['/Company/compares', [], inClass('compares'), /the placeholder :1 holds the text "soon"; it takes a date/],
    ['/Company/adds', [], inClass('adds'), /name/],
    ['/Company/assigns', [], inClass('assigns'), /no attribute "nmae" in Company; did you mean "name"\?/],
    [
      '/Company/$query',
      { $filter: 'label = x' },
      { class: 'CompanyEntity', function: 'byLabel', attribute: 'label' },
      /the code of "Company\.label" gives a query that cannot be used, nmae = x: .*did you mean "name"\?/,
      /^/,
    ],
    ['/Company/$query', { $attributes: 'size' }, { class: 'CompanyEntity', attribute: 'size' }, /of another type/, /^/],
  ]
  for (const [path, body, place, message, code = /classes\.ts:\d+:\d+/] of mistakes) {
    const { lines, text } = await post(path, body)
    t.match(lines, [{ level: 'error', plugin: 'acme', ...place, err: { type: 'UsageError', message } }], text)
    t.match(lines[0]?.err?.stack ?? '', code)
    t.match(text, /"errCode":1562/)
    t.match(text, /failed with UsageError; the log of the server tells more/)
    t.notMatch(text, /info|nmae|founded|did you|"label"/)
  }
  for (const name of ['waits', 'waitsLater']) {
    const { lines, text } = await post(`/Company/${name}`)
    t.match(lines, [{ level: 'error', ...inClass(name), err: { message: /^a transaction cannot wait/ } }], name)
    t.match(text, /a transaction cannot wait/)
    t.match(lines[0]?.err?.stack, new RegExp(`${folder}/classes\\.ts:\\d+`))
  }
})

t.test('the console of plugin code is the log', async t => {
  const { post } = await start(t)
  const nested = await post('/Employee/outer')
  t.match(nested.lines, [
    { level: 'info', msg: 'outer', class: 'Employee', function: 'outer' },
    { level: 'info', msg: 'inner', class: 'Employee', function: 'inner' },
    { level: 'info', msg: 'outer again', class: 'Employee', function: 'outer' },
  ])
  const talk = await post('/Employee/talks')
  t.strictSame(
    talk.lines.map(({ level, msg }) => [level, msg]),
    [
      ['debug', 'debugging 1'],
      ['warn', 'a warning'],
      ['error', 'shown'],
      ['info', '┌─────────┬───┐\n│ (index) │ a │\n├─────────┼───┤\n│ 0       │ 1 │\n└─────────┴───┘'],
      ['info', 'group'],
      ['info', '  inside'],
      ['info', '{ nested: { object: [ 1, 2 ] } }'],
    ],
  )
  const saved = await post('/Employee?$method=update', { lastName: 'x' })
  t.match(saved.lines, [{ msg: 'checked', class: 'EmployeeEntity', function: 'check', event: 'validateSave' }])

  const many = await post('/Employee/talksMuch')
  t.equal(many.lines.length, 101)
  t.match(many.lines.at(-1), { level: 'warn', msg: '900 further lines were left out' })
  t.equal((await post('/Employee/inner')).lines.length, 1, 'each call has its own limit')
  const long = await post('/Employee/talksLong')
  t.match(long.lines[0]!.msg, /^x{8192}… \(100000 characters\)$/)
})

t.test('a line names the class that declares the function, of several for one subject', async t => {
  const { post, engine } = await start(t)
  const hooked = { msg: 'hooked', plugin: 'acme', class: 'Hooks', function: 'hook' }
  const streams = { plugin: 'acme', class: 'Streams', function: 'progress' }
  t.match((await post('/$catalog/hook')).lines, [hooked])
  const { lines } = await post('/$catalog/progress')
  t.match(lines, [{ msg: 'going on', ...streams }, hooked, { msg: 'further', ...streams }])
  await insertRows(engine.saves, 'Employee', [{ ID: 1, lastName: 'Lovelace' }])
  const dropped = await post('/Employee(1)?$method=delete')
  t.match(dropped.lines, [{ class: 'Dropped', function: 'last', event: 'dropping' }])
  t.match((await post('/$catalog/forgets')).lines, [
    { level: 'error', plugin: 'acme', class: 'Streams', function: 'forgets', err: { type: /FORGOTTEN_PROMISE/ } },
  ])
})

t.test('a line of a failed attempt leads to its job', async t => {
  const { post, take } = await start(t)
  for (const name of ['failing', 'forgetting']) {
    const { result: job } = JSON.parse((await post('/$catalog/put', [name])).text) as { result: string }
    const lines: Line[] = []
    while (!lines.some(({ plugin, level }) => plugin === 'jobs' && level === 'error')) {
      await new Promise(resolve => setTimeout(resolve, 10))
      lines.push(...take())
    }
    t.match(
      lines.filter(({ level }) => level === 'error'),
      [
        { class: 'Streams', function: name, job, attempt: 1 },
        { class: 'Streams', function: name, job, attempt: 2 },
        { plugin: 'jobs', job, attempt: 2, msg: new RegExp(`the job ds\\.${name} has failed`) },
      ],
      name,
    )
  }
})

t.test('a failure after the end of a call is logged with its place in the source', async t => {
  const { post, take, folder } = await start(t)
  for (const [name, message, place] of [
    ['failsLater', 'later', positionOf('later')],
    ['rejectsLater', 'floating', '\\d+:\\d+'],
  ] as const) {
    t.equal((await post(`/Employee/${name}`)).text, '{"result":"done"}')
    const lines: Line[] = []
    while (!lines.some(({ err }) => err)) {
      await new Promise(resolve => setTimeout(resolve, 10))
      lines.push(...take())
    }
    const error = lines.find(({ err }) => err)
    t.match(error, { level: 'error', plugin: 'acme', err: { message } }, name)
    t.match(error?.err?.stack, new RegExp(`${folder}/classes\\.ts:${place}`), name)
  }
})

t.test('a function that is stopped is named', async t => {
  const { post } = await start(t)
  const { lines } = await post('/Employee/loops')
  t.match(lines, [
    { level: 'info', msg: 'before', function: 'loops' },
    {
      level: 'error',
      msg: /function thread ended in the function Employee\.loops: it exceeded its deadline/,
      function: 'loops',
    },
  ])
})

t.test('no deadline ends a call while a debugger can be attached', async t => {
  const { post } = await start(t)
  inspector.open(0, '127.0.0.1')
  t.teardown(() => inspector.close())
  t.equal((await post('/Employee/pauses')).text, '{"result":0}')
  inspector.close()
  t.match((await post('/Employee/pauses')).text, /its deadline of 0\.1 s/)
})
