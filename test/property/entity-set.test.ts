/**
 * Entity sets answer as a simple model says, whatever happened before: sets are made, narrowed, combined, cleaned, used,
 * released and made again; entities are added, changed and deleted; time passes; the server restarts.
 */
import t, { type Test } from 'tap'
import { EntitySetModel, type Filter, type Query, UnknownKey } from '../support/reference/entity-set-model.ts'
import { type Random, randomOf } from '../support/base/random.ts'
import { isLong, longCount, seeds, timeoutMs } from '../support/runner/rounds.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'
import { type Fixture, startServer, type TestAnswer, type TestServer } from '../support/servers/test-server.ts'

const SEQUENCES = isLong ? longCount(5_000) : 80
const STEPS = 16
const CHANCE_OF_RESTART = isLong ? 0.002 : 0.003

const items: Fixture = {
  model: {
    name: 'items',
    dataClasses: {
      Item: {
        key: 'ID',
        attributes: {
          ID: { type: 'long', autoFill: 'increment' },
          a: { type: 'long', indexed: true },
          b: { type: 'long' },
        },
      },
    },
  },
  rows: {},
}

/** A server and its model. Each step returns the difference that it finds, as text. */
class Pair {
  readonly model = new EntitySetModel()
  private readonly log: string[] = []
  /** Ids of the sets in this sequence. */
  private ids: string[] = []

  private constructor(
    private readonly t: Test,
    private readonly folder: string,
    private readonly memoryBytes: number,
    private server: TestServer,
    private readonly clock: { ms: number },
  ) {}

  static async start(t: Test, memoryBytes: number): Promise<Pair> {
    const folder = temporaryFolder(t)
    const clock = { ms: 1_800_000_000_000 }
    return new Pair(t, folder, memoryBytes, await open(t, folder, memoryBytes, clock), clock)
  }

  /** @returns the difference and the steps that led to it, or undefined */
  async sequence(random: Random): Promise<string | undefined> {
    this.ids = []
    this.log.length = 0
    for (let i = 0; i < STEPS; i++) {
      while (this.model.items.size < 8) await this.add(random)
      const difference = await this.step(random)
      if (difference !== undefined) return [...this.log, difference].join('\n')
    }
    return undefined
  }

  private step(random: Random): Promise<string | undefined> {
    if (this.ids.length === 0) return this.create(random)
    if (random.chance(CHANCE_OF_RESTART)) return this.restart()
    const steps = [
      this.create,
      this.create,
      this.read,
      this.read,
      this.read,
      this.read,
      this.derive,
      this.derive,
      this.combine,
      this.combine,
      this.intersect,
      this.clean,
      this.pass,
      this.pass,
      this.release,
      this.refresh,
      this.add,
      this.change,
      this.remove,
      this.removeMembers,
    ]
    return random.pick(steps).call(this, random)
  }

  private async create(random: Random): Promise<string | undefined> {
    const { model } = this
    const keys = random.chance(0.2) ? random.some([...model.items.keys()], 0.3).reverse() : undefined
    const query: Query = {
      keys: keys && keys.length > 1 ? keys : undefined,
      filter: random.chance(0.7) ? randomFilter(random) : undefined,
      order: random.chance(0.3) ? random.pick(['asc', 'desc'] as const) : undefined,
    }
    const lifetime = randomLifetime(random)
    const saves = { filter: random.chance(0.4), order: random.chance(0.2) }
    const path = `/Item${query.keys ? `(${query.keys.join(',')})` : ''}${parameters([
      ...queryParameters(query),
      ...lifetime.parameters,
      ...(saves.filter ? ['$savedfilter=true'] : []),
      ...(saves.order ? ['$savedorderby=true'] : []),
      '$method=entityset',
    ])}`
    const saved = saves.order ? query : saves.filter ? { ...query, order: undefined } : undefined
    return this.made(path, model.run(query), lifetime.seconds, saved)
  }

  /** Derives a new set, or the same one, from an existing set. */
  private async derive(random: Random): Promise<string | undefined> {
    const id = this.id(random)
    const filter = random.chance(0.5) ? randomFilter(random) : undefined
    const order = random.chance(0.4) ? random.pick(['asc', 'desc'] as const) : undefined
    const saves = random.chance(0.2)
    const path = `/Item/$entityset/${id}${parameters([
      ...queryParameters({ filter, order }),
      ...(saves ? ['$savedfilter=true'] : []),
      '$method=entityset',
    ])}`
    const set = this.open(id)
    if (typeof set === 'number') return this.refused(path, set)
    if (!filter && !order) {
      const answer = await this.get(path)
      return this.shows(path, answer, set.members) ?? (idOf(answer) === id ? undefined : `${path}: another id`)
    }
    const saved = saves && filter ? { filter } : undefined
    return this.made(path, this.model.narrow(set.members, filter, order), 7200, saved)
  }

  private async read(random: Random): Promise<string | undefined> {
    const id = this.id(random)
    const query = {
      filter: random.chance(0.3) ? randomFilter(random) : undefined,
      order: random.chance(0.2) ? random.pick(['asc', 'desc'] as const) : undefined,
    }
    const [skip, top] = random.chance(0.5) ? [random.integer(0, 5), random.integer(0, 5)] : [0, 1000]
    const page = [`$skip=${skip}`, `$top=${top}`]
    const path = `/Item/$entityset/${id}${parameters([...queryParameters(query), ...page])}`
    const set = this.open(id)
    if (typeof set === 'number') return this.refused(path, set)
    return this.shows(path, await this.get(path), this.model.narrow(set.members, query.filter, query.order), skip, top)
  }

  private async combine(random: Random): Promise<string | undefined> {
    const operator = random.pick(['AND', 'OR', 'EXCEPT'] as const)
    const [left, right] = [this.id(random), this.id(random)]
    const order = random.chance(0.2) ? random.pick(['asc', 'desc'] as const) : undefined
    const keeps = random.chance(0.5)
    const clean = random.chance(0.2)
    const path = `/Item/$entityset/${left}${parameters([
      `$logicOperator=${operator}`,
      `$otherCollection=${right}`,
      ...queryParameters({ order }),
      ...(clean ? ['$clean=true'] : []),
      ...(keeps ? ['$method=entityset'] : ['$top=1000']),
    ])}`
    const operands = this.openBoth(left, right)
    if (typeof operands === 'number') return this.refused(path, operands)
    const members = this.model.combine(operator, ...operands)
    const existing = clean ? members.filter(member => this.model.items.has(member)) : members
    const expected = this.model.narrow(existing, undefined, order)
    return keeps ? this.made(path, expected, 7200, undefined) : this.shows(path, await this.get(path), expected)
  }

  private async intersect(random: Random): Promise<string | undefined> {
    const [left, right] = [this.id(random), this.id(random)]
    const path = `/Item/$entityset/${left}?$logicOperator=intersect&$otherCollection=/rest/Item/$entityset/${right}`
    const operands = this.openBoth(left, right)
    if (typeof operands === 'number') return this.refused(path, operands)
    const expected = this.model.combine('AND', ...operands).length > 0
    const { json } = await this.get(path)
    return json === expected ? undefined : `${path}: ${json} in place of ${expected}`
  }

  private async clean(random: Random): Promise<string | undefined> {
    const id = this.id(random)
    const keeps = random.chance(0.5)
    const path = `/Item/$entityset/${id}?$clean=true&${keeps ? '$method=entityset' : '$top=1000'}`
    const set = this.open(id)
    if (typeof set === 'number') return this.refused(path, set)
    const expected = set.members.filter(member => this.model.items.has(member))
    return keeps ? this.made(path, expected, 7200, undefined) : this.shows(path, await this.get(path), expected)
  }

  private async refresh(random: Random): Promise<string | undefined> {
    const id = this.id(random)
    const path = `/Item/$entityset/${id}?$refresh=true&$top=1000`
    const set = this.open(id)
    if (typeof set === 'number') return this.refused(path, set)
    try {
      if (set.saved) set.members = this.model.run(set.saved)
    } catch (error) {
      if (error instanceof UnknownKey) return this.refused(path, 1802)
      throw error
    }
    return this.shows(path, await this.get(path), set.members)
  }

  private async release(random: Random): Promise<string | undefined> {
    const id = this.id(random)
    if (random.chance(0.5)) {
      this.model.release(id)
      const answer = await this.post('/Item/$entityset/$release', [id])
      return answer.json?.ok === true ? undefined : `release: ${answer.text}`
    }
    const path = `/Item/$entityset/${id}?$method=release`
    if (!this.model.release(id)) return this.refused(path, 1802)
    const answer = await this.get(path)
    return answer.json?.ok === true ? undefined : `${path}: ${answer.text}`
  }

  private async pass(random: Random): Promise<undefined> {
    const seconds = random.pick([1, 9, 10, 30, 300, 599, 600, 3600, 7199, 7200])
    this.log.push(`${seconds} s pass`)
    this.clock.ms += seconds * 1000
    this.model.now += seconds
    if (random.chance(0.3)) await this.server.engine.entitySets.sweep()
  }

  private async add(random: Random): Promise<undefined> {
    const values = { a: random.integer(0, 5), b: random.integer(0, 5) }
    const { json } = await this.post('/Item?$method=update', values)
    this.model.items.set(json.ID, { ID: json.ID, ...values })
  }

  private async change(random: Random): Promise<string | undefined> {
    const item = random.pick([...this.model.items.values()])
    const { json } = await this.get(`/Item(${item.ID})`)
    item.a = random.integer(0, 5)
    item.b = random.integer(0, 5)
    const answer = await this.post('/Item?$method=update', {
      __KEY: json.__KEY,
      __STAMP: json.__STAMP,
      a: item.a,
      b: item.b,
    })
    return answer.status === 200 ? undefined : answer.text
  }

  private async remove(random: Random): Promise<string | undefined> {
    const item = random.pick([...this.model.items.values()])
    this.model.items.delete(item.ID)
    const answer = await this.post(`/Item(${item.ID})?$method=delete`, undefined)
    return answer.status === 200 ? undefined : answer.text
  }

  private async removeMembers(random: Random): Promise<string | undefined> {
    if (!random.chance(0.2)) return this.remove(random)
    const id = this.id(random)
    const path = `/Item/$entityset/${id}?$method=delete`
    const set = this.model.open(id, true)
    const answer = await this.post(path, undefined)
    if (!set) return answer.status === 404 ? undefined : `${path}: ${answer.text}`
    for (const member of set.members) this.model.items.delete(member)
    return answer.status === 200 ? undefined : answer.text
  }

  private async restart(): Promise<undefined> {
    this.log.push('restart')
    await this.server.close()
    this.server = await open(this.t, this.folder, this.memoryBytes, this.clock)
  }

  /**
   * The set in the model, or the code of the error that a request for it must return. Each request is by a new guest, for whom a
   * saved query that fails looks like a set that never existed.
   */
  private open(id: string) {
    try {
      return this.model.open(id) ?? 1802
    } catch (error) {
      if (error instanceof UnknownKey) return 1802
      throw error
    }
  }

  private openBoth(left: string, right: string): [readonly number[], readonly number[]] | number {
    const first = this.open(left)
    if (typeof first === 'number') return first
    const { members } = first
    const second = this.open(right)
    if (typeof second === 'number') return second === 1802 ? 1820 : second
    return [members, second.members]
  }

  private async made(path: string, members: readonly number[], timeout: number, saved: Query | undefined) {
    const answer = await this.get(path)
    const difference = this.shows(path, answer, members, 0, 100)
    if (difference !== undefined) return difference
    const id = idOf(answer)
    if (this.model.sets.has(id)) return `${path}: not a new id`
    this.ids.push(id)
    this.model.put(id, members, timeout, saved)
    return undefined
  }

  private shows(path: string, { text, json }: TestAnswer, members: readonly number[], skip = 0, top = 1000) {
    const expected = { count: members.length, keys: this.model.shown(members.slice(skip, skip + top)) }
    const keys = json.__ENTITIES?.map((entity: { __KEY?: string }) => entity.__KEY)
    const found = JSON.stringify({ count: json.__COUNT, keys })
    return found === JSON.stringify(expected) ? undefined : `${path}: ${text}, expected ${JSON.stringify(expected)}`
  }

  private async refused(path: string, code: number): Promise<string | undefined> {
    const { text, json } = await this.get(path)
    return json?.__ERROR?.[0].errCode === code ? undefined : `${path}: ${text} in place of ${code}`
  }

  private id(random: Random): string {
    return random.pick(this.ids)
  }

  private get(path: string): Promise<TestAnswer> {
    this.log.push(path)
    return this.server.get(path)
  }

  private post(path: string, body: unknown): Promise<TestAnswer> {
    this.log.push(`${path} ${JSON.stringify(body)}`)
    return this.server.post(path, body)
  }
}

const open = (t: Test, folder: string, memoryBytes: number, clock: { ms: number }): Promise<TestServer> =>
  startServer(t, items, { folder, now: () => clock.ms, config: { entitySet: { memoryBytes } } })

const idOf = (answer: TestAnswer): string => answer.json.__ENTITYSET.slice(-32)

const randomFilter = (random: Random): Filter => ({
  attribute: random.pick(['a', 'b'] as const),
  comparator: random.pick(['=', '<', '>'] as const),
  value: random.integer(0, 5),
})

function randomLifetime(random: Random): { seconds: number; parameters: string[] } {
  if (random.chance(0.5)) return { seconds: 7200, parameters: [] }
  const seconds = random.pick([1, 10, 31, 600])
  return { seconds, parameters: [`$timeout=${seconds}`] }
}

const queryParameters = ({ filter, order }: Query): string[] => [
  ...(filter ? [`$filter="${filter.attribute}${filter.comparator}${filter.value}"`] : []),
  ...(order ? [`$orderby="b ${order}"`] : []),
]

const parameters = (list: readonly string[]): string => (list.length > 0 ? `?${list.join('&')}` : '')

t.setTimeout(timeoutMs)

for (const memoryBytes of [2 ** 20, 0]) {
  t.test(`with ${memoryBytes} bytes of memory every sequence matches the model`, { timeout: timeoutMs }, async t => {
    const pair = await Pair.start(t, memoryBytes)
    for (const seed of seeds(SEQUENCES / 2)) {
      const difference = await pair.sequence(randomOf(seed))
      if (difference === undefined) continue
      t.fail(`seed ${seed}`, { report: { difference } })
      return
    }
    t.pass()
  })
}
