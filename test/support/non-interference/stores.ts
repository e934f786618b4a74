import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { createKey, hashKey } from '../../../kernel/auth/directory.ts'
import type { Random } from '../base/random.ts'
import { temporaryFolder } from '../base/temporary-folder.ts'
import {
  type ServerOptions,
  startServer,
  type TestAnswer,
  type TestServer,
  usualTransports,
} from '../servers/test-server.ts'
import { difference } from './answers.ts'
import { ALL, type WorldModel } from './model.ts'
import { type Known, type Sent, SESSIONS } from './requests.ts'
import { canHide, FIRST_HIDDEN_KEY, type Pairs, variedValues } from './rows.ts'

const HEX = /[0-9A-F]{32}/g
type Side = 'a' | 'b'

/** One of the two stores, and the random ids that its server has given. */
interface Store {
  readonly server: TestServer
  readonly cookies: readonly string[]
  readonly key: string
  readonly sets: string[]
  readonly uploads: string[]
  /** Keys of its entities that the other store may lack. */
  readonly varied: ReadonlyMap<string, Set<number>>
}

/** Two servers that a client must not be able to tell apart. */
export class Stores {
  readonly known: Known = { sets: [], shared: [], uploads: 0, stamps: new Map() }

  private nextHidden = FIRST_HIDDEN_KEY + 100

  private constructor(
    private readonly world: WorldModel,
    private readonly pairs: Pairs,
    private readonly a: Store,
    private readonly b: Store,
    private readonly clock: { ms: number },
  ) {}

  static async start(t: Test, random: Random, world: WorldModel, pairs: Pairs): Promise<Stores> {
    const clock = { ms: Date.now() }
    const options: ServerOptions = {
      setting: random.pick(['normal', 'memory-minimum', 'pool'] as const),
      transport: random.pick(usualTransports),
      now: () => clock.ms,
    }
    const open = async (side: Side) => ({
      ...(await openStore(t, world, rowsOf(pairs, side), options)),
      varied: new Map(
        Object.entries(pairs).map(([name, list]) => [
          name,
          new Set(list.filter(pair => pair.sort === 'varied' && pair[side]).map(({ key }) => key)),
        ]),
      ),
    })
    const [a, b] = await Promise.all([open('a'), open('b')])
    return new Stores(world, pairs, a, b, clock)
  }

  pass(seconds: number): void {
    this.clock.ms += seconds * 1000
  }

  /** Sends a request to both. @returns the difference of the answers, or undefined, and the first answer */
  async send(
    sent: Sent,
    as: 'client' | 'admin' = 'client',
  ): Promise<{ difference: string | undefined; answer: TestAnswer }> {
    const [a, b] = await Promise.all([exchange(this.a, sent, as), exchange(this.b, sent, as)])
    const found = difference({ ...a, text: named(a.text, this.a) }, { ...b, text: named(b.text, this.b) })
    if (found === undefined && as === 'client') this.learn(sent, a, b)
    return { difference: found, answer: a }
  }

  /** Changes something in one store that the client may not see. */
  async disturb(random: Random): Promise<void> {
    const specs = this.world.classes.filter(canHide)
    if (specs.length === 0) return
    const spec = random.pick(specs)
    const store = random.pick([this.a, this.b])
    const own = store.varied.get(spec.name)!
    const key = random.chance(0.4) || own.size === 0 ? this.nextHidden++ : random.pick([...own])
    const values = variedValues(random, spec, store === this.a ? key : key + 5_000, this.pairs)
    const save = (element: object) =>
      store.server.engine.saves.write({
        kind: 'save',
        dataClass: spec.name,
        body: Buffer.from(JSON.stringify(element)),
        mode: 'update',
        atomic: false,
        trusted: true,
      })
    if (!own.has(key)) {
      // Its targets may have been deleted.
      const { entities } = await save(values)
      if (!entities[0]!.failure) own.add(key)
      return
    }
    const admin = { method: 'GET', path: `/${spec.name}(${key})`, session: 0, kind: '', writes: true } as const
    if (random.chance(0.4)) {
      const { status } = await exchange(store, { ...admin, method: 'DELETE' }, 'admin')
      if (status === 200) own.delete(key)
      return
    }
    const { json } = await exchange(store, admin, 'admin')
    if (json?.__STAMP) await save({ ...values, __KEY: key, __STAMP: json.__STAMP })
    else own.delete(key)
  }

  /** Makes a set with entities that the client may not see, and lets the client know its id. */
  async share(random: Random): Promise<void> {
    const { name } = random.pick(this.world.classes.filter(({ isReadable }) => isReadable))
    const from = FIRST_HIDDEN_KEY + random.integer(0, 5)
    const filter = random.pick([
      '',
      `&$filter="rank > ${random.integer(0, 5)}"`,
      `&$filter="ID >= ${from} and ID < ${from + 3}"`,
    ])
    const order = random.chance(0.5) ? '&$orderby="rank desc"' : ''
    const path = `/${name}?$method=entityset&$savedorderby=${random.chance(0.5)}${filter}${order}`.replaceAll(
      ' ',
      '%20',
    )
    for (const store of [this.a, this.b]) {
      const { json } = await exchange(store, { method: 'GET', path, session: 0, kind: '', writes: true }, 'admin')
      store.sets.push(json.__ENTITYSET.slice(-32))
    }
    this.known.shared.push(this.known.sets.push(name) - 1)
  }

  /** Records new ids, and the stamps that saves have to send. */
  private learn(sent: Sent, a: TestAnswer, b: TestAnswer): void {
    const { known } = this
    for (const [store, { json }] of [
      [this.a, a],
      [this.b, b],
    ] as const) {
      const set = /^\/rest\/(\w+)\/\$entityset\/([0-9A-F]{32})$/.exec(json?.__ENTITYSET ?? '')
      if (set && !store.sets.includes(set[2]!)) {
        store.sets.push(set[2]!)
        if (store === this.a) known.sets.push(set[1]!)
      }
      if (sent.path.startsWith('/$upload') && json?.ID) {
        store.uploads.push(json.ID)
        if (store === this.a) known.uploads++
      }
    }
    const dataClass = /^\/(\w+)/.exec(sent.path)?.[1]
    const shown = [a.json?.__ENTITIES ?? a.json].flat() as { __KEY?: string; __STAMP?: number }[]
    if (sent.kind === 'refresh' || sent.kind === 'related' || a.json?.__entityModel !== dataClass) return
    for (const each of shown) {
      if (each?.__KEY !== undefined && each.__STAMP) {
        known.stamps.set(`${dataClass}(${each.__KEY})`, each.__STAMP)
      }
    }
  }
}

const rowsOf = (pairs: Pairs, side: Side): Record<string, object[]> =>
  Object.fromEntries(
    Object.entries(pairs).map(([name, list]) => [name, list.flatMap(pair => (pair[side] as object) ?? [])]),
  )

async function openStore(
  t: Test,
  { model, roles, source }: WorldModel,
  rows: Record<string, object[]>,
  options: ServerOptions,
): Promise<Omit<Store, 'varied'>> {
  const folder = temporaryFolder(t)
  const key = createKey()
  const directory = { keys: [{ name: 'admin', hash: hashKey(key), privileges: [ALL] }] }
  writeFileSync(join(folder, 'tesser.directory.json'), JSON.stringify(directory))
  if (source !== undefined) {
    mkdirSync(join(folder, 'plugin'))
    writeFileSync(join(folder, 'plugin/classes.ts'), source)
    writeFileSync(join(folder, 'plugin/index.ts'), PLUGIN)
  }
  const server = await startServer(
    t,
    { model, rows },
    {
      ...options,
      folder,
      roles,
      config: {
        plugins: source === undefined ? [] : [join(folder, 'plugin/index.ts')],
        functions: { threads: 1, deadlineSeconds: 120, loadSeconds: 120 },
        query: { timeoutMs: 120_000 },
      },
    },
  )
  const cookies: string[] = []
  while (cookies.length < SESSIONS) {
    const { headers } = await server.get('/$catalog')
    cookies.push(String(headers['set-cookie']).split(';')[0]!)
  }
  return { server, cookies, key, sets: [], uploads: [] }
}

const PLUGIN = `import { definePlugin } from 'tesser'
export default definePlugin({ name: 'veiled', kernel: '^1.0.0', classes: new URL('./classes.ts', import.meta.url) })
`

function exchange(
  store: Store,
  { method, path, body, headers: own, session }: Sent,
  as: 'client' | 'admin',
): Promise<TestAnswer> {
  const { server, cookies, key } = store
  const headers = { ...own, ...(as === 'admin' ? { authorization: `Bearer ${key}` } : { cookie: cookies[session]! }) }
  const isRaw = body === undefined || body instanceof Uint8Array
  return server.send(method, ids(path, store), isRaw ? body : ids(JSON.stringify(body), store), headers)
}

/** Fills in the ids of this store. */
const ids = (text: string, { sets, uploads }: Store): string =>
  text
    .replaceAll(/\{set:(\d+)\}/g, (_, n) => sets[Number(n)] ?? '0'.repeat(32))
    .replaceAll(/\{upload:(\d+)\}/g, (_, n) => uploads[Number(n)] ?? '0'.repeat(32))

/** Replaces the ids of this store; a new id gets the number that it is going to have. */
function named(text: string, { sets, uploads, server }: Store): string {
  const fresh: string[] = []
  return text.replaceAll(`127.0.0.1:${server.port}`, 'HOST').replaceAll(HEX, id => {
    const known = sets.indexOf(id) >= 0 ? `set ${sets.indexOf(id)}` : `upload ${uploads.indexOf(id)}`
    if (!known.endsWith('-1')) return known
    if (!fresh.includes(id)) fresh.push(id)
    return `new ${fresh.indexOf(id)}`
  })
}
