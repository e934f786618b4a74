/**
 * Every operation at an address, or by a condition on `__KEY`, works on what a GET shows there: deletion, save, lock, function, blob,
 * attribute list, relation, entity set; and every link of an entity leads to it. With texts that differ in case, accents,
 * normal form, width, blanks, quotes and wildcards, in the store and, where it is installed, in PostgreSQL.
 *
 *   TESSER_TEST_SEED=42 node dist/test/property/addresses.test.js      repeats one world
 */
import t, { type Test } from 'tap'
import {
  type AddressWorld,
  databaseWorld,
  type Item,
  randomText,
  storeWorld,
} from '../support/reference/address-world.ts'
import { type Random, randomOf } from '../support/base/random.ts'
import { isLong, longCount, seeds, timeoutMs } from '../support/runner/rounds.ts'
import { startPostgres } from '../support/databases/sql-servers.ts'

const WORLDS = isLong ? longCount(30) : 2
const ROUNDS = isLong ? 200 : 14
const ITEMS = 20

/** Entities as a request names them. */
interface Named {
  /** Address of `Item`, without its dataclass. */
  readonly address: string
  readonly filter?: string
  readonly params?: readonly unknown[]
  /** Entities that it has to show, if the law says that. */
  readonly expected?: readonly Item[]
}

interface Shown {
  readonly status: number
  /** Numbers of the entities, ascending. */
  readonly numbers: readonly number[]
  readonly isEntity: boolean
}

const postgres = await startPostgres()
if (typeof postgres === 'string') t.comment(`in PostgreSQL skipped: ${postgres}`)
else t.teardown(() => postgres.stop())
t.setTimeout(timeoutMs)
for (const seed of seeds(WORLDS)) {
  t.test(`world ${seed} in the store`, async t => {
    const random = randomOf(seed)
    await tryAll(t, await storeWorld(t, random, ITEMS), random)
  })
  if (typeof postgres === 'string') continue
  t.test(`world ${seed} in PostgreSQL`, async t => {
    const random = randomOf(seed)
    await tryAll(t, await databaseWorld(t, random, ITEMS, postgres), random)
  })
}

async function tryAll(t: Test, world: AddressWorld, random: Random): Promise<void> {
  await tryLinks(t, world)
  for (let round = 1; round <= ROUNDS; round++) {
    const named = randomName(world, random)
    const difference = await differenceOf(named, world, random, round)
    if (difference === undefined) continue
    t.fail('operations work on what is shown', { report: { round, named, difference, items: world.items } })
    return
  }
  t.pass(`${ROUNDS} addresses`)
}

const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[()']/g, sign => `%${sign.charCodeAt(0).toString(16)}`)

/** Links of all entities lead to themselves, to their blobs and to their relations, in both forms of brackets. */
async function tryLinks(t: Test, { server, items, owners }: AddressWorld): Promise<void> {
  const { json } = await server.get('/Item?$top=-1')
  const stamps = json.__ENTITIES.map(({ __KEY, __STAMP }: Record<string, unknown>) => ({ __KEY, __STAMP, note: 1 }))
  const saved = await server.post('/Item?$method=update', stamps)
  const read = async (uri: string): Promise<{ status: number; json?: Record<string, unknown>; text: string }> =>
    server.get(uri.slice('/rest'.length))
  for (const [i, { uri, n, __KEY }] of saved.json.__ENTITIES.entries()) {
    const name = JSON.stringify(__KEY)
    t.match(await read(uri), { json: { __KEY, n } }, `${name}: ${uri}`)
    t.match(await read(uri.replace(/\((.*)\)$/, '[$1]')), { json: { __KEY, n } }, `${name} in brackets`)
    if (/^[^"']/.test(__KEY))
      t.match(await read(`/rest/Item(${encoded(__KEY)})`), { json: { __KEY, n } }, `${name} bare`)
    const { data, owner } = json.__ENTITIES[i]
    t.equal(
      (await read(data.__deferred.uri)).text,
      String(items.find(({ ID }) => ID === __KEY)!.n),
      `${name}: its blob`,
    )
    if (owner) t.equal((await read(owner.__deferred.uri)).json?.__KEY, owner.__deferred.__KEY, `${name}: its owner`)
  }
  for (const ID of owners) {
    const { json } = await server.get(`/Owner("${encoded(ID)}")`)
    const { json: related } = await server.get(json.items.__deferred.uri.slice('/rest'.length))
    const numbers = related.items.__ENTITIES.map(({ n }: Item) => n).sort(byNumber)
    t.same(
      numbers,
      items.filter(({ ownerID }) => ownerID === ID).map(({ n }) => n),
      `the items of ${JSON.stringify(ID)}`,
    )
  }
}

const byNumber = (a: number, b: number): number => a - b

function randomName(world: AddressWorld, random: Random): Named {
  const { items, owners, isSame } = world
  const textOf = (list: readonly string[]): string => (random.chance(0.7) ? random.pick(list) : randomText(random))
  const keys = items.map(({ ID }) => ID)
  const quote = random.pick(['%22', '%27', '"'])
  const key = textOf(keys)
  const among = (texts: readonly string[]): Item[] => items.filter(({ ID }) => texts.some(each => isSame(each, ID)))
  const list = [key, ...random.some(keys, 0.1)]
  const [open, close] = random.pick([
    ['(', ')'],
    ['[', ']'],
  ] as const)
  const isBare = random.chance(0.5)
  const inAddress = (text: string): string =>
    isBare && /^[^"']/.test(text) ? encoded(text) : `${quote}${encoded(text)}${quote}`
  const bracketed = (texts: readonly string[]): string => `${open}${texts.map(inAddress).join(',')}${close}`
  const exact = !list.some(each => each.includes('@'))
  const by = (filter: string, params: readonly unknown[], expected?: readonly Item[]): Named => ({
    address: '',
    filter,
    params,
    ...(expected && { expected }),
  })
  const literal = key.replace(/["'\\]/g, sign => `\\u00${sign.charCodeAt(0).toString(16)}`)
  const owner = textOf(owners)
  switch (random.integer(0, 16)) {
    case 0:
    case 1:
      return { address: bracketed([key]), expected: among([key]) }
    case 2:
      return { address: bracketed(list) }
    case 3:
    case 4:
      return { address: `:code${bracketed([textOf(items.map(({ code }) => code))])}` }
    case 5:
      return { address: `:__KEY${bracketed([key])}`, expected: among([key]) }
    case 6:
      return { address: `:ID${bracketed([key])}` }
    case 7:
      return by('__KEY = :1', [key], exact ? among([key]) : undefined)
    case 8:
      return by('__KEY in :1', [list], exact ? among(list) : undefined)
    case 9:
      return by('__KEY != :1', [key], exact ? items.filter(each => !among([key]).includes(each)) : undefined)
    case 10:
      return by('__KEY is :1', [key], among([key]))
    case 11:
      return by('not (__KEY in :1)', [list], exact ? items.filter(each => !among(list).includes(each)) : undefined)
    case 12:
      return by(`__KEY ${random.pick(['begin', '<', '>=', '%'])} :1`, [key])
    case 13:
      return /[\n&]|\\u005c/.test(literal) ? by('__KEY = :1', [key]) : by(`__KEY is "${literal}"`, [])
    case 14:
      return by(
        'owner = :1',
        [owner],
        owner.includes('@')
          ? undefined
          : items.filter(each => each.ownerID !== null && isSame(each.ownerID, owner) && owners.includes(each.ownerID)),
      )
    case 15:
      return by('owner.__KEY in :1 and n < 15', [[owner, random.pick(owners)]])
    default:
      return by('code = :1', [textOf(items.map(({ code }) => code))])
  }
}

/** @returns what does not agree; undefined if everything does */
async function differenceOf(
  named: Named,
  { server, items, isSame, restore }: AddressWorld,
  random: Random,
  round: number,
): Promise<object | undefined> {
  const { address, filter, params = [] } = named
  const query = filter === undefined ? '' : `&$filter="${encoded(filter)}"&$params='${encoded(JSON.stringify(params))}'`
  const at = (part: string, parameters = ''): string => `/Item${address}${part}?$top=-1${query}${parameters}`
  const deletion = `/Item${address}?$method=delete${query}`
  const show = async (path: string): Promise<Shown> => numbersOf(await server.get(path))
  const all = async (): Promise<{ n: number; note: number; __KEY: string; __STAMP: number }[]> =>
    (await server.get('/Item/n,note?$top=-1')).json.__ENTITIES
  const shown = await show(at(''))
  const { numbers, isEntity } = shown
  const differs = (what: string, found: readonly unknown[] | undefined, wanted: readonly number[] = numbers) =>
    JSON.stringify(found) === JSON.stringify(wanted) ? undefined : { what, found, wanted, shown }
  const { expected } = named
  let difference: object | undefined
  if (expected && !(expected.length === 0 && shown.status === 404))
    difference = differs(
      'the law',
      numbers,
      expected.map(({ n }) => n),
    )
  difference ??= differs('an attribute list', (await show(at('/n'))).numbers)
  difference ??= differs('with its relation', (await show(at('', '&$expand=owner'))).numbers)

  if (isEntity || shown.status >= 400) {
    const blob = await server.get(at('/data', '&$binary=true'))
    difference ??= differs('a blob', blob.status < 400 ? [Number(blob.text)] : [])
    const { json } = await server.get(`/Item${address}/number?${query.slice(1)}`)
    difference ??= differs('a function of an entity', [json.result ?? []].flat())
    difference ??= differs('a lock', await lockedBy(server, `/Item${address}?${query.slice(1)}`))
  }
  if (!isEntity && shown.status < 400) {
    const { json } = await server.get(at('', '&$method=entityset'))
    difference ??= differs('an entity set', (await show(`${json.__ENTITYSET.slice('/rest'.length)}?$top=-1`)).numbers)
    const { json: called } = await server.get(`/Item${address}/numbers?${query.slice(1)}`)
    difference ??= differs('a function of a selection', called?.result?.sort(byNumber))
  }
  if (filter !== undefined) {
    const { json } = await server.post('/Item/byQuery', [filter, ...params])
    difference ??= differs('a query of plugin code', (json?.result ?? []).sort(byNumber))
  } else if (expected && isEntity !== shown.status >= 400) {
    const key = items.find(({ n }) => n === numbers[0])?.ID ?? randomText(random)
    const { json } = await server.post('/Item/byKey', [key])
    const found = items.filter(({ ID }) => isSame(ID, key)).map(({ n }) => n)
    difference ??= differs('get() of plugin code', json?.result, found)
    const stamp = (await all()).find(({ n }) => n === found[0])?.__STAMP ?? 1
    await server.post('/Item?$method=update', [{ __KEY: key, __STAMP: stamp, note: 1000 + round }])
    const changed = (await all()).filter(({ note }) => note === 1000 + round).map(({ n }) => n)
    difference ??= differs('a save by __KEY', changed, found)
  }
  if (difference) return difference
  const { status } = await server.post(deletion)
  const left = new Set((await all()).map(({ n }) => n))
  const removed = items.filter(({ n }) => !left.has(n))
  difference = differs('a deletion', removed.map(({ n }) => n).sort(byNumber))
  if (!difference && shown.status >= 400 !== status >= 400) difference = { what: 'its status', status, shown }
  if (removed.length > 0) await restore(removed)
  return difference
}

function numbersOf({ status, json }: { status: number; json?: Item & { __ENTITIES?: Item[] } }): Shown {
  if (status >= 400) return { status, numbers: [], isEntity: false }
  const list = json!.__ENTITIES
  return { status, numbers: list ? list.map(({ n }) => n).sort(byNumber) : [json!.n], isEntity: !list }
}

/** Numbers of the entities that another session cannot change while an address is locked. */
async function lockedBy(server: AddressWorld['server'], path: string): Promise<number[]> {
  const cookie = String((await server.get('/$catalog')).headers['set-cookie']).split(';')[0]!
  const separator = path.endsWith('?') ? '' : '&'
  await server.post(`${path}${separator}$lock=true`, undefined, { cookie })
  const { json } = await server.get('/Item/n?$top=-1')
  const changes = json.__ENTITIES.map(({ __KEY, __STAMP }: Record<string, unknown>) => ({ __KEY, __STAMP, note: 2 }))
  const saved = await server.post('/Item?$method=update', changes)
  await server.post(`${path}${separator}$lock=false`, undefined, { cookie })
  const locked = saved.json.__ENTITIES.flatMap(({ __STATUS }: { __STATUS?: { success: boolean } }, i: number) =>
    __STATUS?.success === false ? json.__ENTITIES[i].n : [],
  )
  return locked.sort(byNumber)
}
