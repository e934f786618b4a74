/** Decimals in plugin code: texts with all decimal places, in entities, queries, calculated attributes, events and tasks. */
import { join } from 'node:path'
import t from 'tap'
import { createTestServer } from '../../kernel/testing.ts'

const money = (more: object = {}) => ({ type: 'decimal', scale: 2, ...more })
const model = {
  name: 'till',
  dataClasses: {
    Rate: { key: 'percent', attributes: { percent: money() } },
    Sale: {
      key: 'ID',
      attributes: {
        ID: { type: 'long', autoFill: 'increment' },
        amount: money({ indexed: true }),
        tax: money({ asText: true }),
        note: { type: 'string' },
        percent: money(),
        rate: { kind: 'relatedEntity', type: 'Rate', foreignKey: 'percent' },
      },
    },
  },
}
const INDEX = `import { definePlugin, encoded } from 'tesser'
export default definePlugin({
  name: 'till',
  kernel: '^1.0.0',
  classes: new URL('./classes.ts', import.meta.url),
  tasks: { values: new URL('./task.ts', import.meta.url) },
  register({ service, engine, applyParameters }) {
    service('$values', { verbs: ['GET'] }, request => {
      applyParameters(request)
      return encoded(engine.runTask('till/values', { ...request.read, dataClass: 'Sale' }, {}, request.transport))
    })
  },
})`
const TASK = `export default store => {
  const values = []
  store.select().forEach('amount', value => values.push(value))
  return values
}`
const CLASSES = `import { calculated, DataClass, Entity, event, onHTTPGet, queryOf } from 'tesser/classes'
export class Sale extends DataClass('Sale') {
  @onHTTPGet totals() {
    const all = this.all()
    return ['sum', 'average', 'min', 'max', 'count'].map(name => all[name]('amount')).concat(all.distinct('amount'), all.sum('tax'))
  }
  @onHTTPGet read() {
    const amounts = []
    for (const sale of this.all().orderBy('ID')) amounts.push(sale.amount)
    return amounts
  }
  @onHTTPGet find(value) {
    return this.query('amount = :1', value).length
  }
  @onHTTPGet cents(ID) {
    const sale = this.get(ID)
    sale.amount = 5n
    const bigint = sale.amount
    sale.amount = 0.1
    sale.save()
    return [bigint, sale.amount, this.get(ID).amount, sale.toObject('amount,tax,rate').rate.__KEY]
  }
  @onHTTPGet rounded(ID) {
    this.get(ID).amount = 0.1 + 0.2
  }
}
export class SaleEntity extends Entity('Sale') {
  @event('touched', 'amount') counted() {
    this.tax = (Number(this.amount) * 0.19).toFixed(2)
  }
  @event('touched', 'percent') rated() {
    this.note = this.percent
  }
  @calculated({ type: 'decimal', scale: 2, asText: true }) get half() {
    return this.amount && String(Number(this.amount) / 2)
  }
  @calculated({ type: 'decimal', scale: 1, stored: true, indexed: true }) get tenths() {
    return this.amount && Number(this.amount).toFixed(1)
  }
  @calculated({ type: 'decimal', scale: 2 }) get twin() {
    return this.amount
  }
  set twin(value) {
    this.amount = value
  }
  @queryOf('twin') byTwin({ operator, value }) {
    return { query: 'amount ' + operator + ' :1 and note != :2', parameters: [value, typeof value] }
  }
}`

t.test('plugin code sees decimals as texts', async t => {
  const folder = t.testdir({ 'index.ts': INDEX, 'classes.ts': CLASSES, 'task.ts': TASK })
  const sales = Array.from({ length: 40 }, (_, i) => ({ amount: (i + 1) / 10, note: 'x', percent: 7.5 }))
  const server = await createTestServer({
    model,
    data: { Rate: [{ percent: '7.5' }], Sale: [...sales, { amount: '9999999999999999.99' }, { amount: null }] },
    plugins: [join(folder, 'index.ts')],
  })
  t.teardown(() => server.close())
  const call = async (path: string, args: unknown[] = []) => {
    const { json } = await server.get(`/rest/Sale/${path}?$params=${encodeURIComponent(JSON.stringify(args))}`)
    return json.result ?? json
  }
  const keys = async (filter: string, more = '') => {
    const { json } = await server.get(`/rest/Sale?$filter="${encodeURIComponent(filter)}"&$orderby=ID${more}`)
    return json.__ENTITIES.map(({ __KEY }: { __KEY: string }) => __KEY)
  }
  const amounts = [...sales.map(({ amount }) => amount.toFixed(2)), '9999999999999999.99', null]

  t.strictSame(await call('read'), amounts, 'of many entities, from rows and from the column')
  t.strictSame(
    await call('totals'),
    [
      '10000000000000081.99',
      '243902439024392.24365854',
      '0.10',
      '9999999999999999.99',
      41,
      ...amounts.slice(0, 41),
      null,
    ].map(value => value ?? '1900000000000015.59'),
  )
  t.strictSame((await server.get('/rest/$values')).json, amounts.slice(0, 41), 'in a task')
  for (const value of ['0.3', 0.3, '0.3000']) t.equal(await call('find', [value]), 1)
  t.equal(await call('find', [0.1 + 0.2]), 0)
  t.strictSame(await call('cents', [3]), ['5.00', '0.10', '0.10', '7.50'])
  t.match(await call('rounded', [3]), {
    __ERROR: [{ errCode: 1508, message: /^amount cannot be 0\.30000000000000004; / }],
  })

  // Calculated attributes
  t.match((await server.get('/rest/Sale(1)/half,tenths,twin')).text, /"half":"0\.05","tenths":0\.1,"twin":0\.10\}/)
  t.strictSame(await keys('half = 0.05'), ['1', '3'])
  t.strictSame(await keys('tenths >= 3.95'), ['40', '41'])
  t.strictSame(await keys('twin = 0.1'), ['1', '3'])
  t.strictSame(await keys('twin = :1', '&$params=[9999999999999999.99]'), [])
  t.equal((await server.get('/rest/Sale/tenths?$compute=sum')).text, '10000000000000081.8')

  // Events of a save over HTTP
  const saved = await server.post('/rest/Sale?$method=update', { amount: 12.5, rate: '7.50' })
  t.match(saved.json, { amount: 12.5, tax: '2.38', note: '7.50', percent: 7.5 })
  t.match((await server.post('/rest/Sale?$method=update', { twin: '4.20' })).json, { amount: 4.2, tax: '0.80' })
})
