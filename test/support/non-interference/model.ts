/**
 * Models, roles and plugins for two stores that differ only in what one client may not see: attributes and dataclasses
 * without a read right, and entities that restrict events hide.
 */
import type { Random } from '../base/random.ts'

export type Type =
  | 'long'
  | 'long64'
  | 'number'
  | 'float'
  | 'bool'
  | 'string'
  | 'date'
  | 'duration'
  | 'object'
  | 'image'
  | 'blob'
  | 'vector'

export interface ScalarSpec {
  readonly kind: 'scalar'
  readonly name: string
  readonly type: Type
  readonly model: object
  readonly isReadable: boolean
  readonly isUpdatable: boolean
  /** Its values on entities that exist for the client may differ between the stores: nothing that the client sees depends on them. */
  readonly varies: boolean
}

export interface RelationSpec {
  readonly kind: 'one'
  readonly name: string
  readonly foreignKey: string
  readonly target: string
  readonly inverse: string
  readonly onDelete: 'restrict' | 'setNull' | 'cascade'
  readonly isReadable: boolean
}

/** A condition on the attribute `grade` that every visible entity meets, with values that meet it and values that do not. */
export interface Hiding {
  readonly type: Type
  readonly condition: string
  readonly shown: readonly unknown[]
  readonly hidden: readonly unknown[]
}

export interface ClassSpec {
  readonly name: string
  readonly isReadable: boolean
  readonly scalars: readonly ScalarSpec[]
  readonly relations: readonly RelationSpec[]
  /** Name and path. */
  readonly aliases: readonly { readonly name: string; readonly path: string; readonly isReadable: boolean }[]
  readonly hasLabel: boolean
  readonly hasEvents: boolean
  readonly hiding: Hiding | undefined
  /** Queries of its restrict events. */
  readonly restrict: readonly string[]
  /**
   * True if a restrict event reads entities of its own dataclass, which is not restricted while it runs: their content must
   * then be the same in both stores, although they are hidden.
   */
  readonly looksAtItself: boolean
}

export interface WorldModel {
  readonly classes: readonly ClassSpec[]
  readonly model: object
  readonly roles: object
  /** Source of the module with classes; undefined: there is no plugin. */
  readonly source: string | undefined
}

/** Privilege of users who see everything. */
export const ALL = 'all'

const RELATIONS = [
  { from: 'Team', name: 'region', target: 'Region', inverse: 'teams' },
  { from: 'Person', name: 'team', target: 'Team', inverse: 'members' },
  { from: 'Person', name: 'boss', target: 'Person', inverse: 'staff' },
  { from: 'Task', name: 'owner', target: 'Person', inverse: 'tasks' },
  { from: 'Task', name: 'area', target: 'Region', inverse: 'jobs' },
] as const

const CLASSES = ['Region', 'Team', 'Person', 'Task'] as const

/** Attributes besides `ID`, `name`, `rank` and, where a restrict event uses it, `grade`, which every dataclass has. */
const MORE: readonly { name: string; type: Type; model?: object }[] = [
  { name: 'code', type: 'string', model: { unique: true } },
  { name: 'amount', type: 'number', model: { maxValue: 1e40 } },
  { name: 'ratio', type: 'float', model: { indexed: true } },
  { name: 'big', type: 'long64' },
  { name: 'born', type: 'date', model: { indexed: true } },
  { name: 'took', type: 'duration' },
  { name: 'info', type: 'object', model: { properties: { 'a.b': { type: 'long', indexed: true } } } },
  { name: 'done', type: 'bool' },
  { name: 'words', type: 'string' },
  { name: 'photo', type: 'image' },
  { name: 'file', type: 'blob' },
  { name: 'meaning', type: 'vector', model: { dimension: 2, hnsw: {} } },
]

const HIDINGS: readonly Hiding[] = [
  { type: 'long', condition: 'grade <= 5', shown: [0, 3, 5], hidden: [6, 9, null] },
  { type: 'long', condition: '(grade = null or not(grade > 5))', shown: [0, 5, null], hidden: [6, 9] },
  { type: 'bool', condition: 'grade = true', shown: [true], hidden: [false, null] },
  {
    type: 'string',
    condition: 'grade = "open@"',
    shown: ['open', 'OPENED', 'open door'],
    hidden: ['closed', '', null],
  },
  {
    type: 'object',
    condition: 'grade.level < 3',
    shown: [{ level: 1 }, { level: 2, x: [1] }],
    hidden: [{ level: 7 }, {}, null],
  },
  { type: 'date', condition: 'grade < 2020-01-01', shown: ['2001-02-03', '2019-12-31'], hidden: ['2024-05-06', null] },
]

export function randomModel(random: Random): WorldModel {
  const unreadable = random.chance(0.5) ? random.pick(CLASSES) : undefined
  const hasPlugin = random.chance(0.85)
  const relations = RELATIONS.filter(() => random.chance(0.85))
  // An event may read all entities of a dataclass that the client may not read, and would reveal them.
  const seen = relations.filter(({ from }) => from !== unreadable)
  const refersTo = new Map<string, string>()
  const labelled = CLASSES.filter(() => hasPlugin && random.chance(0.5))
  const classes = CLASSES.map((name): ClassSpec => {
    const hiding = hasPlugin && name !== unreadable && random.chance(0.75) ? random.pick(HIDINGS) : undefined
    const own = relations.filter(({ from }) => from === name)
    const hasLabel = labelled.includes(name)
    const scalars = randomScalars(random, name, hiding, hasLabel)
    return {
      name,
      isReadable: name !== unreadable,
      scalars,
      relations: own.map(({ name, target, inverse }) => ({
        kind: 'one',
        name,
        foreignKey: `${name}ID`,
        target,
        inverse,
        onDelete: random.pick(['restrict', 'setNull', 'cascade'] as const),
        isReadable: random.chance(0.9),
      })),
      aliases: own
        .filter(() => random.chance(0.4))
        .map(({ name }) => ({ name: `${name}Rank`, path: `${name}.rank`, isReadable: random.chance(0.8) })),
      hasLabel,
      hasEvents: random.chance(0.3),
      hiding,
      ...restrictEvents(random, hiding, name, seen, refersTo),
    }
  })
  return {
    classes,
    model: modelOf(classes),
    roles: rolesOf(random, classes),
    source: hasPlugin ? sourceOf(classes) : undefined,
  }
}

/** Aliases, labels and conditions over relations use `rank`, so that of visible entities is the same in both stores. */
function randomScalars(random: Random, owner: string, hiding: Hiding | undefined, hasLabel: boolean): ScalarSpec[] {
  const scalar = (name: string, type: Type, model: object, canVary = true): ScalarSpec => {
    const isReadable = random.chance(0.7)
    return {
      kind: 'scalar',
      name,
      type,
      model: { type, ...model },
      isReadable,
      isUpdatable: isReadable && random.chance(0.85),
      varies: !isReadable && canVary,
    }
  }
  const indexed = () => (random.chance(0.5) ? { indexed: true } : {})
  return [
    scalar('name', 'string', indexed(), !hasLabel),
    scalar('rank', 'long', indexed(), false),
    ...(hiding ? [scalar('grade', hiding.type, hiding.type === 'object' ? {} : indexed())] : []),
    ...random.some(MORE, 0.5).map(({ name, type, model = {} }) => scalar(name, type, model)),
    ...(owner === 'Task' ? [scalar('secret', 'long', { indexed: true })] : []),
  ]
}

/** One event with all conditions, or one event for each. */
function restrictEvents(
  random: Random,
  hiding: Hiding | undefined,
  name: string,
  seen: readonly (typeof RELATIONS)[number][],
  refersTo: Map<string, string>,
): Pick<ClassSpec, 'restrict' | 'looksAtItself'> {
  if (!hiding) return { restrict: [], looksAtItself: false }
  const related = relatedCondition(random, name, seen, refersTo)
  const conditions = [hiding.condition, ...(related ? [related.condition] : [])]
  return {
    restrict: random.chance(0.5) ? conditions : [conditions.join(' and ')],
    looksAtItself: related?.about === name,
  }
}

/**
 * A condition over a relation besides the own one, unless the condition of the other dataclass leads back here: while the events
 * of a dataclass run, it is not restricted, so that two such rules reveal what they hide.
 * @param refersTo dataclasses that conditions of others use
 */
function relatedCondition(
  random: Random,
  name: string,
  relations: readonly (typeof RELATIONS)[number][],
  refersTo: Map<string, string>,
): { readonly condition: string; readonly about: string } | undefined {
  const leadsBack = (other: string | undefined): boolean =>
    other !== undefined && (other === name || leadsBack(refersTo.get(other)))
  const refer = (about: string, condition: string) => {
    if (about !== name && leadsBack(about)) return undefined
    if (about !== name) refersTo.set(name, about)
    return { condition, about }
  }
  const to = relations.filter(({ from }) => from === name)
  const back = relations.filter(({ from, target }) => target === name && from !== name)
  if (to.length > 0 && random.chance(0.4)) {
    const { name: relation, target } = random.pick(to)
    return refer(target, `(${relation}ID = null or ${relation}.rank <= 7)`)
  }
  if (back.length > 0 && random.chance(0.3)) {
    const { inverse, from } = random.pick(back)
    return refer(from, `(rank < 6 or ${inverse}.rank >= 2)`)
  }
  return undefined
}

function modelOf(classes: readonly ClassSpec[]): object {
  const dataClasses = classes.map(({ name, scalars, relations, aliases, hasLabel }) => {
    const inverses = classes.flatMap(other =>
      other.relations
        .filter(({ target }) => target === name)
        .map(each => [
          each.inverse,
          { kind: 'relatedEntities', type: `${other.name}Selection`, inverseName: each.name },
        ]),
    )
    const attributes = [
      ['ID', { type: 'long', autoFill: 'increment' }],
      ...scalars.map(each => [each.name, each.model]),
      ...relations.map(({ foreignKey }) => [foreignKey, { type: 'long' }]),
      ...relations.map(({ name, target, foreignKey, inverse, onDelete }) => [
        name,
        { kind: 'relatedEntity', type: target, foreignKey, inverseName: inverse, onDelete },
      ]),
      ...inverses,
      ...aliases.map(({ name, path }) => [name, { kind: 'alias', path }]),
      ...(hasLabel ? [['label', { kind: 'calculated', type: 'string' }]] : []),
    ]
    return [name, { key: 'ID', attributes: Object.fromEntries(attributes) }]
  })
  return { name: 'veiled', dataClasses: Object.fromEntries(dataClasses) }
}

function rolesOf(random: Random, classes: readonly ClassSpec[]): object {
  const allowed = classes.flatMap(({ name, isReadable, scalars, relations, aliases }) => {
    const denied = (['create', 'update', 'drop'] as const).filter(() => random.chance(0.12))
    const dataClass = Object.fromEntries([...(isReadable ? [] : ['read']), ...denied].map(action => [action, [ALL]]))
    const attribute = (applyTo: string, settings: object) => ({
      type: 'attribute',
      applyTo: `${name}.${applyTo}`,
      ...settings,
    })
    return [
      ...(Object.keys(dataClass).length > 0 ? [{ type: 'dataclass', applyTo: name, ...dataClass }] : []),
      ...scalars
        .filter(each => !each.isReadable || !each.isUpdatable)
        .map(each => attribute(each.name, { ...(!each.isReadable && { read: [ALL] }), update: [ALL], create: [ALL] })),
      ...[...relations, ...aliases].filter(each => !each.isReadable).map(each => attribute(each.name, { read: [ALL] })),
    ]
  })
  return { privileges: [{ privilege: ALL }], permissions: { allowed } }
}

/** Source of functions that do what clients do, with the rights of their callers. */
function sourceOf(classes: readonly ClassSpec[]): string {
  const names = classes.map(({ name }) => name)
  return [
    `import { calculated, DataClass, DataStore, ds, Entity, EntitySelection, event, exposed, onHTTPGet, queryOf, Session, Singleton } from 'tesser/classes'`,
    'export class Store extends DataStore {',
    ...['counts', 'ranks'].map(
      name => `  @onHTTPGet ${name}() { return [${names.map(each => `this.${name}Of(ds.${each})`).join(', ')}] }`,
    ),
    '  countsOf(dataClass) { try { return dataClass.getCount() } catch (error) { return String(error.message) } }',
    '  ranksOf(dataClass) { try { return dataClass.all().max("rank") } catch (error) { return String(error.message) } }',
    '}',
    'export class Counter extends Singleton {',
    `  @onHTTPGet sizes() { return [${names.map(name => `ds.${name}?.all().length`).join(', ')}] }`,
    '}',
    ...classes.flatMap(classSource),
  ].join('\n')
}

function classSource({ name, restrict, hasLabel, hasEvents, relations }: ClassSpec): string[] {
  return [
    `export class ${name} extends DataClass('${name}') {`,
    ...restrict.map(
      (query, i) =>
        `  @event('restrict') visible${i}() { if (!Session.hasPrivilege('${ALL}')) return this.query(${JSON.stringify(query)}) }`,
    ),
    '  @onHTTPGet ids() { return this.all().extract("ID") }',
    '  @exposed sizeOf(selection) { return [selection.length, selection.extract("ID"), selection.first()?.ID ?? null] }',
    '  @onHTTPGet above(rank) { return this.query("rank >= :1 order by rank, ID", rank) }',
    '  @onHTTPGet one(key) { return this.get(key) }',
    '  @exposed made(values) { const entity = this.new(values); return [entity.save().success, entity.ID] }',
    '}',
    `export class ${name}Selection extends EntitySelection('${name}') {`,
    '  @onHTTPGet size() { return this.length }',
    '  @onHTTPGet keys() { return this.extract("ID") }',
    '  @onHTTPGet sorted(order) { return this.orderBy(order) }',
    '  @onHTTPGet sum(attribute) { return [this.sum(attribute), this.min(attribute), this.count(attribute)] }',
    '  @onHTTPGet over(relation) { return this.related(relation) }',
    '  @onHTTPGet narrowed(text) { return this.query(text) }',
    '}',
    `export class ${name}Entity extends Entity('${name}') {`,
    ...(hasLabel
      ? [
          `  @calculated({ type: 'string' }) get label() { return this.name + '/' + this.rank }`,
          `  @queryOf('label') ofLabel(event) { if (event.operator === '>') return { query: 'rank > :1', parameters: [4] } }`,
        ]
      : []),
    ...(hasEvents
      ? [
          `  @event('touched', 'name') named() { this.rank ??= 1 }`,
          `  @event('validateSave') notZed() { if (this.name === 'Zed') return { errCode: 77, message: 'no Zeds' } }`,
          `  @event('dropping') dropped() {}`,
        ]
      : []),
    '  @onHTTPGet self() { return this }',
    '  @onHTTPGet value(name) { return this[name] ?? null }',
    '  @onHTTPGet plain() { return this.toObject() }',
    '  @exposed set(name, value) { this[name] = value; const { success, status, statusText } = this.save(); return [success, status, statusText] }',
    '  @exposed remove() { const { success, status, statusText } = this.drop(); return [success, status, statusText] }',
    ...relations.map(each => `  @onHTTPGet to_${each.name}() { return this.${each.name} }`),
    '}',
  ]
}
