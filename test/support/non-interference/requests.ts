/**
 * Requests of one client over all plugins, most of them valid, about what it may see, what it may not see, and what does not exist.
 */
import type { Random } from '../base/random.ts'
import type { ClassSpec, ScalarSpec, Type, WorldModel } from './model.ts'
import { FIRST_HIDDEN_KEY, randomValue, variesIn } from './rows.ts'

export interface Sent {
  readonly kind: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Relative to `/rest`, or to the server after `//`. `{set:n}` and `{upload:n}` stand for the nth id of that kind in each store. */
  readonly path: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Index of the session of the client. */
  readonly session: number
  /** True for a request that must not overlap with others. */
  readonly writes: boolean
}

/** Facts that the client has learnt. */
export interface Known {
  /** Dataclasses of the entity sets. */
  readonly sets: string[]
  /** Indexes of sets that another client has made. */
  readonly shared: number[]
  uploads: number
  /** `__STAMP` as the client has read it, by `Class(key)`. */
  readonly stamps: Map<string, number>
}

export const SESSIONS = 2

/** Types whose values have no order, and can be compared only with null. */
const UNORDERED = new Set<Type>(['object', 'image', 'blob', 'vector'])
const COMPARATORS: Partial<Record<Type, readonly string[]>> = {
  bool: ['=', '!='],
  string: ['=', '!=', '===', '<', '>=', '%', 'begin'],
}
/** Paths into objects that have such values. */
const propertiesOf = ({ name, type, isReadable }: ScalarSpec): string[] =>
  type !== 'object' || !isReadable ? [] : name === 'grade' ? ['grade.level'] : [`${name}.a.b`, `${name}.list[].c`]

type Draft = Omit<Sent, 'session' | 'writes' | 'kind'> & { writes?: boolean }

/** A foreign key that names a hidden entity is accepted only if that entity exists: a reference cannot be checked without telling so. */
const LINKS_TO_HIDDEN = false

export class Requests {
  private numbers = 0

  constructor(
    private readonly random: Random,
    private readonly world: WorldModel,
    private readonly known: Known,
  ) {}

  next(): Sent {
    const kinds: readonly [number, string, () => Draft][] = [
      [14, 'collection', () => this.collection()],
      [6, 'entity', () => this.one()],
      [3, 'keys', () => this.collection(`(${this.key()},${this.key()})`)],
      [2, 'similar', () => this.similar()],
      [2, 'attribute', () => this.byAttribute()],
      [3, 'related', () => this.related()],
      [4, 'query', () => this.postQuery()],
      [6, 'compute', () => this.aggregate('$compute')],
      [5, 'distinct', () => this.aggregate('$distinct')],
      [3, 'looker', () => this.collection('', ['$format=looker'])],
      [3, 'lines', () => this.collection('', [`$format=${this.random.pick(['csv', 'ndjson'])}`])],
      [6, 'plan', () => this.plan()],
      [3, 'binary', () => this.binary()],
      [2, 'catalog', () => this.catalog()],
      [
        1,
        'server',
        () => ({ method: 'GET', path: this.random.pick(['/$info', '/$directory/currentUser', '/$info/entitySet']) }),
      ],
      [6, 'make set', () => this.makeSet()],
      [6, 'set', () => this.readSet()],
      [5, 'combined sets', () => this.combine()],
      [1, 'release', () => this.release()],
      [8, 'function', () => this.call()],
      [6, 'update', () => this.save('update')],
      [3, 'validate', () => this.save('validate')],
      [2, 'refresh', () => this.save('refresh')],
      [1, 'delete', () => this.remove()],
      [2, 'lock', () => this.lock()],
      [2, 'upload', () => this.upload()],
      [3, 'agent', () => this.agent()],
    ]
    const { random } = this
    let left = random.integer(0, kinds.reduce((sum, [weight]) => sum + weight, 0) - 1)
    const [, kind, draft] = kinds.find(([weight]) => {
      left -= weight
      return left < 0
    })!
    const made = draft()
    const session = random.chance(0.8) ? 0 : random.integer(0, SESSIONS - 1)
    return { writes: made.method !== 'GET', ...made, kind, session }
  }

  private get(path: string, parameters: readonly string[] = []): Draft {
    return { method: 'GET', path: parameters.length > 0 ? `${path}?${parameters.join('&')}` : path }
  }

  // Names: mostly existing ones, also ones that the client should not know.

  private spec(): ClassSpec {
    const readable = this.world.classes.filter(({ isReadable }) => isReadable)
    return this.random.pick(this.random.chance(0.93) ? readable : this.world.classes)
  }

  private className(): string {
    return this.random.chance(0.99) ? this.spec().name : 'Nothing'
  }

  private named(name: string): ClassSpec {
    return this.world.classes.find(each => each.name === name) ?? this.world.classes[0]!
  }

  private key(): string {
    const { random } = this
    if (random.chance(0.75)) return String(random.integer(1, 28))
    if (random.chance(0.6)) return String(FIRST_HIDDEN_KEY + random.integer(0, 8))
    return random.pick(['1000', '900', '0', '-1', 'x', `%22${random.integer(1, 9)}%22`])
  }

  private entity(spec = this.spec()): string {
    return `/${spec.name}(${this.key()})`
  }

  /** Name of any attribute for lists, otherwise of one with comparable values. */
  private scalarName(spec: ClassSpec, isListed = false): string {
    const { random } = this
    if (random.chance(0.03)) return random.pick([...spec.scalars.map(({ name }) => name), 'nothing', 'label'])
    const scalars = spec.scalars.filter(({ isReadable, type }) => isReadable && (isListed || !UNORDERED.has(type)))
    return random.pick([
      'ID',
      ...scalars.map(({ name }) => name),
      ...scalars.map(({ name }) => name),
      ...(spec.hasLabel ? ['label'] : []),
      ...spec.aliases.filter(each => each.isReadable).map(({ name }) => name),
      ...(isListed ? [] : ['__STAMP', ...spec.scalars.flatMap(each => propertiesOf(each))]),
    ])
  }

  /** Relations that the client may name, now and then others. */
  private relations(spec: ClassSpec): { name: string; target: ClassSpec }[] {
    const inverses = this.world.classes.flatMap(other =>
      other.relations
        .filter(({ target }) => target === spec.name)
        .map(({ inverse, isReadable }) => ({ name: inverse, target: other, isReadable })),
    )
    const all = [
      ...spec.relations.map(({ name, target, isReadable }) => ({ name, target: this.named(target), isReadable })),
      ...inverses,
    ]
    return this.random.chance(0.97) ? all.filter(each => each.isReadable && each.target.isReadable) : all
  }

  private path(spec: ClassSpec, isListed = false): string {
    const relations = this.random.chance(0.4) ? this.relations(spec) : []
    if (relations.length === 0) return this.scalarName(spec, isListed)
    const { name, target } = this.random.pick(relations)
    return `${name}.${this.random.chance(0.8) ? this.scalarName(target, isListed) : this.path(target, isListed)}`
  }

  // Texts

  private typeOf(path: string): Type {
    const name = path.split('.').at(-1)!
    if (name === 'label') return 'string'
    for (const { scalars } of this.world.classes) {
      const found = scalars.find(each => each.name === name)
      if (found) return found.type
    }
    return 'long'
  }

  private literal(path: string): string {
    const { random } = this
    if (path.endsWith('ID')) return String(random.chance(0.7) ? random.integer(1, 28) : FIRST_HIDDEN_KEY)
    const type = this.typeOf(path)
    const value = randomValue(random, { name: path.split('.').at(-1)!, type }) ?? 3
    const text = typeof value === 'object' ? '1' : String(value)
    return `'${text.replaceAll("'", '')}${type === 'string' && random.chance(0.3) ? '@' : ''}'`
  }

  private condition(spec: ClassSpec, depth = 0): string {
    const { random } = this
    if (depth < 2 && random.chance(0.35)) {
      const inner = () => this.condition(spec, depth + 1)
      return random.pick([
        () => `(${inner()} ${random.pick(['and', 'or', 'except'])} ${inner()})`,
        () => `not(${inner()})`,
      ])()
    }
    if (random.chance(0.12)) return `${this.path(spec, true)} ${random.pick(['=', '!='])} null`
    const path = this.path(spec)
    if (random.chance(0.08)) return `${path} in [${this.literal(path)},${this.literal(path)}]`
    return `${path} ${random.pick(COMPARATORS[this.typeOf(path)] ?? ['=', '<', '>='])} ${this.literal(path)}`
  }

  private order(spec: ClassSpec): string {
    return Array.from(
      { length: this.random.integer(1, 2) },
      () => `${this.path(spec)}${this.random.pick(['', ' desc', ' asc'])}`,
    ).join(',')
  }

  private paths(spec: ClassSpec): string {
    return Array.from({ length: this.random.integer(1, 3) }, () =>
      this.random.chance(0.1) ? '*' : this.path(spec, true),
    ).join(',')
  }

  private expanded(spec: ClassSpec): string {
    const relations = this.relations(spec)
    if (relations.length === 0) return ''
    const { name, target } = this.random.pick(relations)
    const below = this.random.chance(0.3) ? this.relations(target) : []
    return below.length > 0 ? `${name}.${this.random.pick(below).name}` : name
  }

  private text(name: string, value: string): string {
    return `${name}=${encodeURIComponent(`"${value}"`)}`
  }

  private filters(spec: ClassSpec, probability: number): string[] {
    if (!this.random.chance(probability)) return []
    if (this.random.chance(0.85)) return [this.text('$filter', this.condition(spec))]
    const path = this.path(spec)
    const value = randomValue(this.random, { name: path, type: this.typeOf(path) }) ?? 1
    return [this.text('$filter', `${path} >= :1`), `$params=${encodeURIComponent(JSON.stringify([value]))}`]
  }

  private paging(): string[] {
    const { random } = this
    return [
      ...(random.chance(0.2) ? [`$top=${random.pick(['0', '1', '3', '-1', 'x'])}`] : []),
      ...(random.chance(0.1) ? [`$limit=${random.integer(1, 9)}`] : []),
      ...(random.chance(0.15) ? [`$skip=${random.pick(['1', '5', '40'])}`] : []),
    ]
  }

  private entityParameters(spec: ClassSpec): string[] {
    const { random } = this
    const expanded = random.chance(0.35) ? this.expanded(spec) : ''
    return [
      ...(expanded ? [`$expand=${expanded}`] : []),
      ...(random.chance(0.25) ? [`$attributes=${this.paths(spec)}`] : []),
      ...(random.chance(0.05) ? ['$prettyprint=true'] : []),
      ...(random.chance(0.1) ? ['$asArray=true'] : []),
      ...(random.chance(0.1) ? ['$brief=16'] : []),
    ]
  }

  private readParameters(spec: ClassSpec): string[] {
    return [
      ...this.filters(spec, 0.6),
      ...(this.random.chance(0.4) ? [this.text('$orderby', this.order(spec))] : []),
      ...this.paging(),
      ...this.entityParameters(spec),
      ...(this.random.chance(0.05) ? ['$exact=true'] : []),
    ]
  }

  // Requests

  private collection(keys = '', parameters: readonly string[] = []): Draft {
    const spec = this.spec()
    const list = this.random.chance(0.25) ? `/${this.paths(spec)}` : ''
    const name = this.random.chance(0.99) ? spec.name : 'Nothing'
    return this.get(`/${name}${keys}${list}`, [...parameters, ...this.readParameters(spec)])
  }

  private similar(): Draft {
    const { random } = this
    const spec = random.pick(this.world.classes.filter(each => each.scalars.some(({ type }) => type === 'vector')))
    if (!spec) return this.collection()
    const vector = randomValue(random, { name: '', type: 'vector' })
    const threshold = random.pick([undefined, null, 0.5, 0.9])
    const body = {
      $filter: random.pick(['meaning > :1', `meaning > :1 and ${this.condition(spec)}`, 'not (meaning > :1)']),
      $params: [{ vector, threshold, metric: random.pick(['cosine', 'dot', 'euclidean']) }],
      ...(random.chance(0.5) && { $orderby: 'meaning desc' }),
      ...(random.chance(0.3) && { $attributes: 'ID,__SCORE' }),
      ...(random.chance(0.3) && { $queryplan: true }),
      ...(random.chance(0.3) && { $top: 3 }),
    }
    return { method: 'POST', path: `/${spec.name}/$query`, body }
  }

  private one(): Draft {
    const spec = this.spec()
    return this.get(this.entity(spec), this.entityParameters(spec))
  }

  private byAttribute(): Draft {
    const spec = this.spec()
    const name = this.scalarName(spec)
    const value = encodeURIComponent(this.literal(name).replaceAll("'", ''))
    return this.get(`/${spec.name}:${name}(%22${value}%22)`, this.entityParameters(spec))
  }

  private related(): Draft {
    const spec = this.spec()
    const { name, target } = this.random.pick([...this.relations(spec), { name: 'nothing', target: spec }])
    const set = this.random.chance(0.5)
      ? ['$method=subentityset', ...(this.random.chance(0.5) ? [this.text('$subOrderby', this.order(target))] : [])]
      : []
    return this.get(`${this.entity(spec)}/${name}`, [`$expand=${name}`, ...set, ...this.paging()])
  }

  private postQuery(): Draft {
    const spec = this.spec()
    const path = this.path(spec)
    const { random } = this
    const body = {
      $filter: random.chance(0.5) ? `${path} >= :1` : this.condition(spec),
      $params: [randomValue(random, { name: path, type: this.typeOf(path) })],
      ...(random.chance(0.5) && { $orderby: this.order(spec) }),
      ...(random.chance(0.2) && { $compute: 'count' }),
      ...(random.chance(0.2) && { $method: 'entityset' }),
    }
    return { method: 'POST', path: `/${spec.name}/$query`, body }
  }

  private aggregate(command: '$compute' | '$distinct'): Draft {
    const spec = this.spec()
    const { random } = this
    const functions = ['$all', 'count', 'sum', 'average', 'min', 'max', 'countDistinct', 'sumDistinct']
    const distinct = ['$distinct=true', '$distinct=true&$counts=true']
    const wanted = command === '$compute' ? `$compute=${random.pick(functions)}` : random.pick(distinct)
    const [start, owner] = random.chance(0.15) ? this.set() : [`/${spec.name}`, spec]
    return this.get(`${start}/${this.path(owner)}`, [wanted, ...this.filters(owner, 0.5), ...this.paging()])
  }

  private plan(): Draft {
    const spec = this.spec()
    return this.get(`/${spec.name}`, [...this.filters(spec, 0.95), '$queryplan=true', '$querypath=true', '$top=2'])
  }

  private binary(): Draft {
    const spec = this.spec()
    const name = this.binaryName(spec)
    const wanted = this.random.pick(['$imageformat=best', '$imageformat=gif', '$binary=true'])
    return this.get(`${this.entity(spec)}/${name}`, [wanted, `$expand=${name}`])
  }

  private catalog(): Draft {
    const addresses = ['/$catalog', '/$catalog/$all', `/$catalog/${this.className()}`, '/$openapi', '/$client']
    return this.get(this.random.pick(addresses))
  }

  private binaryName({ scalars }: ClassSpec): string {
    const names = scalars.filter(({ type, isReadable }) => isReadable && (type === 'image' || type === 'blob'))
    return this.random.pick([...names.map(({ name }) => name), 'photo'])
  }

  private setIndex(): number {
    const { sets, shared } = this.known
    const { random } = this
    if (shared.length > 0 && random.chance(0.3)) return random.pick(shared)
    const newest = Math.max(0, sets.length - 12)
    return random.integer(random.chance(0.8) ? newest : 0, Math.max(0, sets.length - 1))
  }

  /** Address of a set, and its dataclass. */
  private set(): [address: string, owner: ClassSpec] {
    const { sets } = this.known
    const { random } = this
    const spec = this.spec()
    if (sets.length === 0) return [`/${spec.name}/$entityset/$none`, spec]
    const index = this.setIndex()
    const owner = random.chance(0.98) ? this.named(sets[index]!) : spec
    return [`/${owner.name}/$entityset/{set:${index}}`, owner]
  }

  private makeSet(): Draft {
    const { random } = this
    const wanted = this.spec()
    const [start, spec] = random.chance(0.3) ? this.set() : [`/${wanted.name}`, wanted]
    return {
      ...this.get(start, [
        ...this.filters(spec, 0.6),
        ...(random.chance(0.4) ? [this.text('$orderby', this.order(spec))] : []),
        '$method=entityset',
        ...(random.chance(0.4) ? ['$savedfilter=true'] : []),
        ...(random.chance(0.2) ? ['$savedorderby=true'] : []),
        ...(random.chance(0.2) ? ['$timeout=100'] : []),
        '$top=5',
      ]),
      writes: true,
    }
  }

  private readSet(): Draft {
    const [start, spec] = this.set()
    const { random } = this
    const extra = random.pick([
      [],
      [],
      ['$refresh=true'],
      ['$clean=true'],
      ['$compute=count'],
      [this.text('$savedfilter', this.condition(spec))],
    ])
    return { ...this.get(start, [...this.readParameters(spec), ...extra]), writes: true }
  }

  private combine(): Draft {
    const { sets, shared } = this.known
    const { random } = this
    const operator = random.pick(['AND', 'OR', 'EXCEPT', 'INTERSECT', 'INTERSECT', 'XOR'])
    const first = this.setIndex()
    const owner = sets[first] ?? 'Team'
    const among = random.chance(0.4) ? shared : [...sets.keys()]
    const fitting = among.filter(i => sets[i] === owner || random.chance(0.03))
    const other = fitting.length > 0 ? `{set:${random.pick(fitting)}}` : '$none'
    return {
      ...this.get(`/${owner}/$entityset/${sets.length > 0 ? `{set:${first}}` : '$none'}`, [
        `$logicOperator=${operator}`,
        `$otherCollection=${other}`,
        ...(random.chance(0.2) ? ['$clean=true'] : []),
        ...(random.chance(0.2) ? ['$refresh=true'] : []),
        ...(random.chance(0.2) ? ['$method=entityset'] : []),
        ...(random.chance(0.2) ? [this.text('$orderby', this.order(this.named(owner)))] : []),
      ]),
      writes: true,
    }
  }

  private release(): Draft {
    if (this.random.chance(0.5)) return { ...this.get(this.set()[0], ['$method=release']), writes: true }
    const index = this.setIndex()
    const path = this.random.chance(0.5) ? '/$entityset/$release' : `/${this.className()}/$entityset/$release`
    return { method: 'POST', path, body: [`{set:${index}}`, 'X'] }
  }

  private call(): Draft {
    const spec = this.spec()
    const { random } = this
    const post = (path: string, ...body: unknown[]): Draft => ({ method: 'POST', path, body })
    const get = (path: string, args?: readonly unknown[], parameters: readonly string[] = []): Draft => {
      const given = args ? [`$params=${encodeURIComponent(JSON.stringify(args))}`] : []
      return this.get(path, [...given, ...parameters])
    }
    const collection = `/${spec.name}`
    const relation = () => random.pick([...this.relations(spec).map(({ name }) => name), 'nothing'])
    const kept = random.chance(0.2) ? ['$method=entityset'] : []
    const filters = () => this.filters(spec, 0.3)
    const values = this.values(spec, undefined)
    const anyEntity = { __ENTITY: true, __DATACLASS: spec.name, __KEY: this.key(), ...this.values(spec, 0.2) }
    return random.pick([
      () => get(`/$catalog/${random.pick(['counts', 'ranks'])}`),
      () => get('/$singleton/Counter/sizes'),
      () => get(`${this.entity(spec)}/${relation()}/${random.pick(['size', 'keys', 'self'])}`, undefined, filters()),
      () => get(`${this.entity(spec)}/${relation()}/sum`, [this.path(spec)], filters()),
      () => get(`${collection}/ids`),
      () => get(`${collection}/above`, [random.integer(0, 9)], kept),
      () => get(`${collection}/one`, [random.pick([1, 2, 7, FIRST_HIDDEN_KEY, FIRST_HIDDEN_KEY + 3, 900])]),
      () =>
        post(`${collection}/sizeOf`, {
          __DATASET: `{set:${this.setIndex()}}`,
        }),
      () => post(`${collection}/sizeOf`, anyEntity),
      () => post(`${collection}/made`, values),
      () => get(`${this.set()[0]}/${random.pick(['size', 'keys'])}`),
      () => get(`${collection}/${random.pick(['size', 'keys'])}`, undefined, this.filters(spec, 0.5)),
      () => get(`${collection}/sorted`, [this.order(spec)], [...kept, ...this.paging()]),
      () => get(`${collection}/sum`, [random.pick(['rank', this.path(spec)])], this.filters(spec, 0.4)),
      () => get(`${collection}/over`, [relation()], this.filters(spec, 0.4)),
      () => get(`${collection}/narrowed`, [this.condition(spec)], this.filters(spec, 0.3)),
      () => get(`${this.entity(spec)}/self`, undefined, this.entityParameters(spec)),
      () => get(`${this.entity(spec)}/value`, [this.path(spec).split('.')[0]]),
      () => get(`${this.entity(spec)}/plain`),
      () => get(`${this.entity(spec)}/to_${spec.relations[0]?.name ?? 'nothing'}`),
      () => post(`${this.entity(spec)}/set`, 'name', random.pick(['Eve', 'Ada', 'Zed', null])),
      ...(random.chance(0.1) ? [() => post(`${this.entity(spec)}/remove`)] : []),
    ])()
  }

  /** New values. @param probability of each attribute */
  private values(spec: ClassSpec, probability = 0.4): Record<string, unknown> {
    const { random } = this
    const given = random.some(
      spec.scalars.filter(each => each.isUpdatable || random.chance(0.02)),
      probability,
    )
    const links = random.some(
      spec.relations.filter(each => each.isReadable || random.chance(0.1)),
      0.3,
    )
    const entries = given.map(each => {
      // It cannot be kept secret that a hidden entity has taken a unique value.
      if (each.name === 'code') {
        const isSafe = !variesIn(spec, each) && random.chance(0.5)
        return ['code', isSafe ? `C-${random.integer(1, 30)}` : `N-${this.numbers++}`]
      }
      if (each.name === 'name' && random.chance(0.1)) return ['name', 'Zed']
      return [each.name, random.chance(0.04) ? { wrong: true } : randomValue(random, each)]
    })
    const keys = links.map(({ name, foreignKey }) => {
      const hidden = LINKS_TO_HIDDEN && random.chance(0.2) ? FIRST_HIDDEN_KEY + random.integer(0, 8) : undefined
      const key = hidden ?? random.pick([1, 2, 3, 5, 8, null, 900])
      return random.chance(0.7) || key === null ? [foreignKey, key] : [name, { __KEY: key }]
    })
    // Sent back as read, or guessed.
    const computed = [...spec.aliases.map(({ name }) => name), ...(spec.hasLabel ? ['label'] : [])]
    const guessed = random.some(computed, 0.3).map(name => {
      const rank = random.pick([null, random.integer(0, 9)])
      return [name, name === 'label' ? `${random.pick(['Ada', 'null'])}/${rank}` : rank]
    })
    return Object.fromEntries([...entries, ...keys, ...guessed])
  }

  private element(spec: ClassSpec): Record<string, unknown> {
    const { random, known } = this
    const values = this.values(spec)
    if (known.uploads > 0 && random.chance(0.15)) {
      values[random.pick(['photo', 'file'])] = { ID: `{upload:${random.integer(0, known.uploads - 1)}}` }
    }
    if (random.chance(0.35)) return values
    const read = [...known.stamps].filter(([name]) => name.startsWith(`${spec.name}(`))
    if (read.length > 0 && random.chance(0.8)) {
      const [name, stamp] = random.pick(read)
      return { __KEY: name.slice(spec.name.length + 1, -1), __STAMP: stamp, ...values }
    }
    const key = random.chance(0.4) ? FIRST_HIDDEN_KEY + random.integer(0, 8) : random.integer(1, 28)
    return { __KEY: random.chance(0.5) ? String(key) : key, ...(random.chance(0.8) && { __STAMP: 1 }), ...values }
  }

  private save(mode: 'update' | 'validate' | 'refresh'): Draft {
    const spec = this.spec()
    const { random } = this
    const parameters = [
      mode === 'refresh' ? '$method=update&$refresh=true' : `$method=${mode}`,
      ...(random.chance(0.2) ? ['$atomic=true'] : []),
      ...(random.chance(0.2) ? [`$expand=${this.expanded(spec)}`] : []),
    ]
    const body = random.chance(0.75)
      ? this.element(spec)
      : Array.from({ length: random.integer(0, 3) }, () => this.element(spec))
    return { method: 'POST', path: `/${spec.name}?${parameters.join('&')}`, body }
  }

  private remove(): Draft {
    const spec = this.spec()
    const { random } = this
    const atomic = random.chance(0.2) ? ['$atomic=true'] : []
    if (random.chance(0.7)) {
      return random.chance(0.5)
        ? { method: 'POST', path: `${this.entity(spec)}?${['$method=delete', ...atomic].join('&')}` }
        : { method: 'DELETE', path: this.entity(spec) }
    }
    const narrow = this.text('$filter', `rank = ${random.integer(0, 9)} and ID < 6`)
    return { method: 'POST', path: `/${spec.name}?${[narrow, '$method=delete', ...atomic].join('&')}` }
  }

  private lock(): Draft {
    return { ...this.get(this.entity(), [`$lock=${this.random.pick(['true', 'true', 'false'])}`]), writes: true }
  }

  private upload(): Draft {
    const { random } = this
    const png = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    )
    if (random.chance(0.5)) {
      return random.chance(0.6)
        ? { method: 'POST', path: '/$upload?$rawPict=true', body: png }
        : { method: 'POST', path: '/$upload?$binary=true', body: Buffer.from('some bytes') }
    }
    const spec = this.spec()
    const path = `${this.entity(spec)}/${this.binaryName(spec)}`
    return random.chance(0.7)
      ? { method: 'PUT', path: `${path}?$rawPict=image/png`, body: png }
      : { method: 'DELETE', path: `${path}?$binary=true` }
  }

  private agent(): Draft {
    const { random } = this
    const spec = this.spec()
    const filter = random.chance(0.6) ? { filter: this.condition(spec) } : {}
    const functions = ['count', 'countDistinct', 'sum', 'min', 'max', 'values']
    const [tool, input] = random.pick<() => [string, object]>([
      () => ['describe', { class: [spec.name] }],
      () => ['query', { class: spec.name, ...filter, orderBy: this.order(spec) }],
      () => ['query', { class: spec.name, ...filter, attributes: this.paths(spec).split(','), top: 3 }],
      () => [
        'aggregate',
        { class: spec.name, ...filter, function: random.pick(functions), attribute: this.path(spec) },
      ],
      () => ['search', { class: spec.name, ...filter, text: random.pick(['ada', 'bob']) }],
      () => ['search', { class: spec.name, similarTo: this.key(), in: ['meaning'] }],
      () => ['call', { class: spec.name, ...filter, function: random.pick(['keys', 'ids', 'size']) }],
      () => ['call', { class: spec.name, key: this.key(), function: random.pick(['plain', 'self']) }],
    ])()
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: tool, arguments: input } }
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
    return { method: 'POST', path: '//mcp', body, headers, writes: false }
  }
}
