import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { createTestServer } from 'tesser/testing'

const CLIENTS = 8
/** Each case of a test has a number, and the copy, product, account and playlist of that number for itself. */
const numbers = Array.from({ length: 20 }, (_, i) => i + 1)
/** Account that the others pay to. */
const BANK = 99
const DUE = '2999-12-31T00:00:00Z'

let server

before(async () => {
  server = await createTestServer({
    model: new URL('./model.json', import.meta.url),
    plugins: [new URL('./index.ts', import.meta.url)],
    users: { root: { privileges: ['WebAdmin'] } },
    // Jobs that are refused are logged.
    config: { functions: { threads: 2 }, log: { level: 'fatal' } },
    data: {
      Copy: numbers.map(number => ({ barcode: `${number}`, title: 'Emma' })),
      Product: numbers.map(ID => ({ ID, name: `product ${ID}`, stock: 5 })),
      Account: [...numbers, BANK].map(ID => ({ ID, owner: 'Ada', limit: -100 })),
      Playlist: numbers.map(ID => ({ ID, name: `playlist ${ID}` })),
    },
  })
})

after(() => server.close())

const root = (method, path, body) => server.as('root').send(method, `/rest/${path}`, body)
const get = async path => (await root('GET', path)).json
const count = async (dataClass, filter) => (await get(`${dataClass}?$filter="${filter}"&$top=1`)).__COUNT
const save = (dataClass, body, parameters = '') => server.post(`/rest/${dataClass}?$method=update${parameters}`, body)
const validate = (dataClass, body) => server.post(`/rest/${dataClass}?$method=validate`, body)
const drop = (dataClass, key) => server.post(`/rest/${dataClass}(${key})?$method=delete`)
const atOnce = send => Promise.all(Array.from({ length: CLIENTS }, (_, i) => send(i)))
const times = (count, entity) => Array.from({ length: count }, () => entity)

const counts = async () => (await get('$jobs')).counts
const jobsDone = async () => {
  for (;;) {
    const { ready, running } = await counts()
    if (ready + running === 0) return
    await setTimeout(10)
  }
}

const balances = async () => (await get('Account/ID,balance?$top=1000&$asArray=true')).map(({ balance }) => balance)
const sum = values => values.reduce((total, value) => total + value, 0)

/** The first code of each entity that was refused. */
const codesOf = ({ json }) => (json.__ENTITIES ?? [json]).flatMap(({ __ERROR: [first] = [] }) => first?.errCode ?? [])

/**
 * Sends an entity that conflicts with itself in all ways.
 * @param room number of these entities that may be saved
 * @param code of the error of all others
 * @param check compares the state with the number of saved entities
 */
async function checkRule({ dataClass, entity, room, code, check }) {
  const fitting = (most, size = 1) => Math.floor(Math.min(most, room) / size) * size
  const ways = [
    ['one', each => save(dataClass, each), fitting(1)],
    ['an array of three', each => save(dataClass, times(3, each)), fitting(3)],
    ['three, all or nothing', each => save(dataClass, times(3, each), '&$atomic=true'), fitting(3, 3)],
    ['a validation', each => validate(dataClass, each), 0],
    ['a validation of three', each => validate(dataClass, times(3, each)), 0],
    ['eight clients', each => atOnce(() => save(dataClass, each)), fitting(8)],
    ['eight clients with three each', each => atOnce(() => save(dataClass, times(3, each))), fitting(24)],
    [
      'eight clients with two each, all or nothing',
      each => atOnce(() => save(dataClass, times(2, each), '&$atomic=true')),
      fitting(16, 2),
    ],
  ]
  for (const [i, [name, send, expected]] of ways.entries()) {
    const number = numbers[i]
    const answers = [await send(entity(number))].flat()
    // There is no other error, such as that of a client whose turn never came.
    for (const answer of answers)
      assert.deepEqual([...new Set(codesOf(answer))], answer.status === 200 ? [] : [code], name)
    await check(number, expected, name)
  }

  const number = numbers[ways.length]
  const rows = times(3, JSON.stringify(entity(number))).join('\n')
  const address = `$import/${dataClass}?$format=ndjson`
  const trial = await root('POST', `${address}&$trial=true`, rows)
  assert.equal(trial.json.inserted, fitting(3))
  const imports = await atOnce(() => root('POST', address, rows))
  assert.equal(sum(imports.map(({ json }) => json.inserted)), fitting(24))
  await check(number, fitting(24), 'imports of eight clients')
}

test('a copy has one open loan at most', async () => {
  await checkRule({
    ...{ dataClass: 'Loan', room: 1, code: 4401 },
    entity: number => ({ member: 'Ada', due: DUE, barcode: `${number}` }),
    async check(number, expected, name) {
      assert.equal(await count('Loan', `barcode=${number}`), expected, name)
      // What was refused has no reminder.
      assert.equal((await counts()).waiting, await count('Loan', 'ID > 0'), name)
    },
  })
  const [loan] = (await get('Loan?$filter="barcode=1"')).__ENTITIES
  const returned = { __KEY: loan.__KEY, __STAMP: loan.__STAMP, returned: '2026-01-31T12:00:00Z' }
  assert.equal((await save('Loan', returned)).status, 200)
  assert.equal((await save('Loan', { member: 'Eva', due: DUE, copy: '1' })).status, 200)
  const again = await save('Loan', { ...returned, __STAMP: loan.__STAMP + 1, returned: null })
  assert.deepEqual(codesOf(again), [4401])
})

test('what is sold was in stock', async () => {
  const stockOf = async number => (await get(`Product(${number})`)).stock
  await checkRule({
    ...{ dataClass: 'OrderLine', room: 2, code: 4402 },
    entity: productID => ({ quantity: 2, productID }),
    async check(number, expected, name) {
      assert.equal(await stockOf(number), 5 - 2 * expected, name)
      assert.equal(await count('OrderLine', `productID=${number}`), expected, name)
    },
  })
  const [from, to] = [15, 16]
  const lines = (await save('OrderLine', times(5, { quantity: 1, product: from }))).json.__ENTITIES
  const changed = (line, values) => save('OrderLine', { __KEY: lines[line].__KEY, __STAMP: 1, ...values })
  assert.deepEqual(codesOf(await changed(0, { quantity: 2 })), [4402])
  assert.equal((await drop('OrderLine', lines[1].__KEY)).status, 200)
  assert.equal((await changed(0, { quantity: 2 })).status, 200)
  assert.equal((await changed(2, { quantity: 3, product: to })).status, 200)
  assert.deepEqual([await stockOf(from), await stockOf(to)], [1, 2])
  assert.equal((await server.post('/rest/OrderLine?$method=delete')).status, 200)
  assert.deepEqual([await stockOf(1), await stockOf(from), await stockOf(to)], [5, 5, 5])
})

test('accounts stay above their limits, and no money is lost', async () => {
  await checkRule({
    ...{ dataClass: 'Transfer', room: 2, code: 4403 },
    entity: fromID => ({ amount: 40, fromID, to: BANK }),
    async check(number, expected, name) {
      assert.equal((await get(`Account(${number})`)).balance, 0 - 40 * expected, name)
      assert.equal(await count('Transfer', `fromID=${number}`), expected, name)
      assert.equal(sum(await balances()), 0, name)
    },
  })
  // Each client sends from its own account to that of the next one.
  const answers = await atOnce(i => save('Transfer', { amount: 100, from: 11 + i, to: 11 + ((i + 1) % CLIENTS) }))
  assert.deepEqual(
    answers.map(({ status }) => status),
    times(CLIENTS, 200),
  )
  assert.equal(sum(await balances()), 0)
  const { __KEY } = answers[0].json
  for (const [answer, code] of [
    [await save('Transfer', { amount: 1, from: 1, to: 1 }), 4406],
    [await save('Transfer', { __KEY, __STAMP: 1, amount: 1 }), 4405],
    [await drop('Transfer', __KEY), 4405],
    [await drop('Account', BANK), 4404],
    // The events have moved the money when the store refuses the amount: that is undone.
    [await save('Transfer', { amount: -5, from: 1, to: 2 }), 1568],
  ])
    assert.deepEqual(codesOf(answer), [code])
  assert.equal(sum(await balances()), 0)
})

test('jobs keep the rules', async () => {
  const before = await counts()
  const payable = (await balances()).filter(balance => balance - 60 >= -100).length
  const { json } = await server.post('/rest/Account/collect', [BANK, 60])
  assert.equal(json.result, numbers.length)
  await jobsDone()
  const { done, failed } = await counts()
  // All but the bank itself.
  assert.equal(done - before.done, payable - 1)
  assert.equal(failed - before.failed, numbers.length - (payable - 1))
  assert.equal(sum(await balances()), 0)
  assert.equal(await count('Transfer', 'job != null'), done)
})

test('a playlist knows the number of its tracks', async () => {
  const check = async (number, expected, name) => {
    const { trackCount, seconds } = await get(`Playlist(${number})`)
    assert.deepEqual([trackCount, seconds], [expected, 10 * expected], name)
    assert.equal(await count('Track', `playlistID=${number}`), expected, name)
  }
  await checkRule({
    ...{ dataClass: 'Track', room: Number.POSITIVE_INFINITY, check },
    entity: playlistID => ({ title: 'Ode', seconds: 10, playlistID }),
  })
  const [from, to] = [15, 16]
  const { __ENTITIES } = (await save('Track', times(2 * CLIENTS, { title: 'Ode', seconds: 10, playlist: from }))).json
  const keys = __ENTITIES.map(({ __KEY }) => __KEY)
  await atOnce(i => save('Track', { __KEY: keys[i], __STAMP: 1, playlist: i === 0 ? null : to }))
  await check(from, CLIENTS)
  await check(to, CLIENTS - 1)
  await atOnce(i => drop('Track', keys[i]))
  await check(to, 0)
  // With its tracks.
  assert.equal((await drop('Playlist', from)).status, 200)
  assert.equal(await count('Track', `playlistID=${from}`), 0)
})
