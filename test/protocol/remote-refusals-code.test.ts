/**
 * Refusals of PostgreSQL as agents receive them through `/mcp`, and as plugin code and its clients receive them: the messages are those of
 * REST. Skipped where PostgreSQL is not installed.
 */
import t, { type Test } from 'tap'
import { logSink } from '../support/base/log-sink.ts'
import { connect } from '../support/clients/mcp-client.ts'
import { type SqlServer, startPostgres } from '../support/databases/sql-servers.ts'
import { startConfigured } from '../support/servers/configured-server.ts'
import { MODEL, NAMES, REFUSALS, SQL, TAKEN } from './refusal-cases.ts'

const INDEX = `import { definePlugin } from 'tesser'
export default definePlugin({ name: 'acme', kernel: '^1.0.0', classes: new URL('./classes.ts', import.meta.url) })`

/** @param events members of the entity class */
const classes = (events = '') => `import { DataClass, ds, Entity, event, exposed } from 'tesser/classes'
export class Booking extends DataClass('Booking') {
  @exposed returned(values) {
    return this.new(values).save()
  }
  @exposed thrown(values) {
    this.new(values).saveOrThrow()
  }
  @exposed place(values) {
    ds.Place.new(values).saveOrThrow()
  }
}
export class BookingEntity extends Entity('Booking') {${events}}`

/** Events that read in the transaction of the save. */
const READING = `
  @event('validateSave') fits() {
    if (ds.Room.getCount() > 1) return { error: 1, message: 'too many rooms' }
  }
  @event('saving') hides() {
    if (this.name === 'hide') this.hidden = 'x'
  }`

interface Refusal {
  readonly message: string
  readonly attribute?: string
  readonly errCode?: number
}

const database = await startPostgres()
if (typeof database === 'string') t.comment(`skipped: ${database}`)
else {
  t.teardown(() => database.stop())
  await database.run(SQL)
  await database.run(TAKEN)
  t.test('without events', t => testRefusals(t, database, ''))
  t.test('with events, in whose transactions the saves are', t => testRefusals(t, database, READING))
}

async function testRefusals(t: Test, { url, run }: SqlServer, events: string): Promise<void> {
  const { logger } = logSink()
  const { server, ask } = await startConfigured(t, {
    fixture: { model: MODEL, rows: {} },
    logger: () => logger,
    config: {
      connections: { main: { url } },
      plugins: [`${t.testdir({ 'index.ts': INDEX, 'classes.ts': classes(events) })}/index.ts`],
      mcp: { write: true },
      functions: { threads: 1 },
    },
  })
  const agent = await connect(t, server.url)
  const call = async (name: string, values: object) => {
    const { status, text } = await ask(`/rest/Booking/${name}`, { body: JSON.stringify([values]) })
    return { status, json: JSON.parse(text) }
  }
  const tool = async (name: string, input: object): Promise<Refusal> => {
    const { isError, json } = await agent.call(name, input)
    t.ok(isError, name)
    return json.errors[0]
  }
  const write = (values: object) => tool('write', { class: 'Booking', save: [values] })
  /** Refusals of a new booking, by the way to them. */
  const WAYS: Readonly<Record<string, (values: object) => Promise<Refusal>>> = {
    'the tool write': write,
    'the tool call': values => tool('call', { class: 'Booking', function: 'thrown', arguments: [values] }),
    'a function that throws': async values => (await call('thrown', values)).json.__ERROR[0],
    'a status': async values => (await call('returned', values)).json.result.errors[0],
  }

  for (const [name, values, attribute, message] of REFUSALS) {
    t.test(name, async t => {
      for (const [way, refusalOf] of Object.entries(WAYS)) {
        const refusal = await refusalOf({ id: 2, ...values })
        t.match(refusal.message, message, way)
        t.equal(refusal.attribute, attribute, way)
        t.notMatch(refusal.message, NAMES, way)
      }
    })
  }

  t.test('the others of several entities are not saved by the tool write', async t => {
    const save = [{ id: 2 }, { id: 3, price: -1 }]
    t.match(await tool('write', { class: 'Booking', save }), {
      entity: 1,
      attribute: 'price',
      message: REFUSALS[0]![3],
    })
    t.equal((await agent.call('aggregate', { class: 'Booking', function: 'count' })).json.data, 1)
  })

  t.test('null in a column that takes none', async t => {
    const input = { class: 'Place', save: [{ id: 1, row: null }] }
    for (const refusal of [
      await tool('write', input),
      await tool('call', { class: 'Booking', function: 'place', arguments: [{ id: 1 }] }),
    ])
      t.match(refusal, { attribute: 'row', message: /^row is mandatory/ })
  })

  t.test('a hidden value, of the table, of code and of an event', async t => {
    const hidden = { errCode: 1570, attribute: undefined, message: 'a hidden value of Booking violates the model' }
    const code = Object.entries(WAYS).filter(([way]) => way !== 'the tool write')
    for (const value of ['x', 'much too long'])
      for (const [way, refusalOf] of code)
        t.match(await refusalOf({ id: 2, hidden: value }), hidden, `${way}: ${value}`)
    if (events) t.match(await write({ id: 2, name: 'hide' }), hidden, 'an event')
    await run(`ALTER TABLE tbl_booking ALTER hidden SET DEFAULT 'x'`)
    t.teardown(() => run('ALTER TABLE tbl_booking ALTER hidden DROP DEFAULT'))
    t.match(await write({ id: 2 }), hidden, 'a default')
    for (const [way, refusalOf] of code) {
      const { message, attribute } = await refusalOf({ id: 2 })
      t.match(message, /^the database refuses the entity of Booking: a check of the table$/, way)
      t.equal(attribute, undefined, way)
    }
  })
}
