import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { type Asked, type Page, Rows, type RowSource } from '../../../../../plugins/explorer/page/browse/rows.ts'

/** A server with numbered entities that records its requests. */
function server(count: number) {
  const state = { count, globalStamp: 1, sets: new Set<string>(), made: 0, requests: [] as string[] }
  const page = ({ $skip = 0, $top = 100 }: Readonly<Record<string, string | number | undefined>>): Page => ({
    __COUNT: state.count,
    __GlobalStamp: state.globalStamp,
    __ENTITIES: Array.from({ length: Math.max(0, Math.min(Number($top), state.count - Number($skip))) }, (_, at) => ({
      __KEY: String(Number($skip) + at),
      __STAMP: state.globalStamp,
    })),
  })
  const note = (kind: string, { $skip, $top }: Readonly<Record<string, string | number | undefined>>) =>
    state.requests.push(`${kind} ${$skip}+${$top}`)
  const ended = new Error('no such set')
  const source: RowSource = {
    async create(parameters) {
      note('create', parameters)
      const id = `S${++state.made}`
      state.sets.add(id)
      return { ...page(parameters), __ENTITYSET: `/rest/Thing/$entityset/${id}` }
    },
    async read(set, parameters) {
      note('read', parameters)
      if (!state.sets.has(set)) throw ended
      return page(parameters)
    },
    async query(parameters) {
      note('query', parameters)
      return page(parameters)
    },
    isEnded: error => error === ended,
  }
  return { state, source }
}

const ASKED: Asked = { parameters: { $attributes: 'name' }, pageRows: 50, needsQuery: false }
const SETTLED_MS = 150

t.test('values that depend on the filter are requested when the set is made', async t => {
  const { state, source } = server(100)
  const rows = new Rows(source)
  rows.want(0, 10, { parameters: { $attributes: '__SCORE' }, pageRows: 50, needsQuery: true })
  await pause(SETTLED_MS)
  t.match(state.requests[0], /^create/)
  t.match(state.requests[1], /^query 0\+50/)
  t.equal(rows.at(10)?.__KEY, '10')
  rows.close()
})

t.test('rows arrive with the set, and then in pages around the visible ones', async t => {
  const { state, source } = server(1_000_000)
  const rows = new Rows(source)
  rows.want(0, 0, ASKED)
  await pause(SETTLED_MS)
  t.equal(rows.count.value, 1_000_000)
  t.same(state.requests, ['create 0+50'])
  rows.want(700_000, 700_030, ASKED)
  await pause(SETTLED_MS)
  t.equal(rows.at(700_030)?.__KEY, '700030')
  t.same(state.requests.slice(1, 2), ['read 700000+50'])
  const { length } = state.requests
  rows.want(700_000, 700_030, ASKED)
  await pause(SETTLED_MS)
  t.equal(state.requests.length, length, 'nothing is requested twice')
  rows.close()
})

t.test('a list that scrolls requests few pages', async t => {
  const { state, source } = server(100_000)
  const rows = new Rows(source)
  for (let first = 0; first < 50_000; first += 500) {
    rows.want(first, first + 30, ASKED)
    await pause(1)
  }
  await pause(SETTLED_MS)
  t.ok(state.requests.length < 40, `${state.requests.length} requests`)
  t.equal(rows.at(49_500)?.__KEY, '49500')
  rows.close()
})

t.test('a set that has ended is made again', async t => {
  const { state, source } = server(1_000)
  const rows = new Rows(source)
  rows.want(0, 20, ASKED)
  await pause(SETTLED_MS)
  state.sets.clear()
  rows.want(500, 520, ASKED)
  await pause(SETTLED_MS)
  t.equal(rows.at(510)?.__KEY, '510')
  t.equal(rows.error.value, undefined)
  t.equal(state.made, 2)
  rows.close()
})

t.test('writes are noticed, and shown after a refresh', async t => {
  const { state, source } = server(1_000)
  const rows = new Rows(source)
  rows.want(0, 20, ASKED)
  await pause(SETTLED_MS)
  t.equal(rows.isStale.value, false)
  state.globalStamp = 2
  state.count = 10
  await rows.check(new AbortController().signal)
  t.equal(rows.isStale.value, true)
  rows.refresh()
  await pause(SETTLED_MS)
  t.equal(rows.isStale.value, false)
  t.equal(rows.count.value, 10)
  t.equal(rows.at(5)?.__STAMP, 2)
  t.equal(rows.at(15), undefined)
  rows.close()
})

t.test('an error stops requests until a refresh', async t => {
  const { state, source } = server(10)
  let isBroken = true
  const rows = new Rows({
    ...source,
    create: async (parameters, signal) => {
      if (isBroken) throw new Error('broken')
      return source.create(parameters, signal)
    },
  })
  rows.want(0, 5, ASKED)
  await pause(SETTLED_MS)
  t.match(rows.error.value, { message: 'broken' })
  t.equal(state.made, 0)
  isBroken = false
  rows.refresh()
  await pause(SETTLED_MS)
  t.equal(rows.at(5)?.__KEY, '5')
  rows.close()
})
