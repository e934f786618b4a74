import type { Attribute } from '../../catalog/attribute.ts'
import type { Catalog, DataClass } from '../../catalog/dataclass.ts'
import type { LoadedClasses } from './describe-classes.ts'
import type { EventKind } from './event-types.ts'
import { type ClassDescriptor, type ClassKind, JOB_KINDS } from './describe-classes.ts'
import { jobProblems } from './job-options.ts'
import { decoratorOf, type Member } from './members.ts'
import type { Origin } from './module-declarations.ts'
import { suggestion } from '../../base/suggestion.ts'

/** Error that lists all declarations of plugins that would never have an effect. */
export class DeclarationError extends Error {
  override readonly name = 'DeclarationError'
  constructor(
    /** One sentence each: plugin, file and line, what was found, what is expected. */
    readonly problems: readonly string[],
  ) {
    super(`the classes of plugins cannot be used:\n${problems.map(problem => `  - ${problem}`).join('\n')}`)
  }
}

/** @throws {DeclarationError} with all that {@link declarationProblems} finds, and classes that are not exported */
export async function checkDeclarations({ classes, problems }: LoadedClasses, catalog: Catalog): Promise<void> {
  const allProblems = [...problems, ...(await declarationProblems(classes, catalog))]
  if (allProblems.length > 0) throw new DeclarationError(allProblems)
}

/**
 * Everything in plugin classes that would never run or would silently hide something. A `restrict` in the wrong class, for
 * example, would show everything to everyone.
 * @param catalog with the calculated attributes of the classes
 */
export async function declarationProblems(classes: readonly ClassDescriptor[], catalog: Catalog): Promise<string[]> {
  const isScheduled = classes.some(({ members }) => members.some(({ kind }) => kind === 'schedule'))
  const { timeProblems } = isScheduled ? await import('./check-schedule.ts') : { timeProblems: () => [] }
  return classes.flatMap(descriptor => [
    ...descriptor.members.flatMap(member =>
      [...memberProblems(member, descriptor, catalog), ...timeProblems(member)].map(
        problem => `${whereOf(member, descriptor)}: ${member.className ?? descriptor.name}.${member.name}: ${problem}`,
      ),
    ),
    ...[
      ...misnamingProblems(descriptor, catalog),
      ...nameProblems(descriptor, catalog),
      ...shadowingProblems(descriptor, classes),
    ].map(problem => `${whereOf(descriptor, descriptor)}: ${descriptor.name}: ${problem}`),
  ])
}

/** `plugin acme, /acme/classes.ts:12` */
export function whereOf({ plugin, place }: Origin, descriptor: ClassDescriptor): string {
  const origin = [plugin ?? descriptor.plugin, place ?? descriptor.place]
  return origin[0] === undefined ? 'a plugin' : `plugin ${origin[0]}${origin[1] === undefined ? '' : `, ${origin[1]}`}`
}

function memberProblems(member: Member, descriptor: ClassDescriptor, catalog: Catalog): string[] {
  if (member.flow === 'generator' && (member.kind !== 'function' || isLoginOf(descriptor, member)))
    return [flowProblem(member)]
  if (member.flow === 'async' && !mayWait(member)) return [flowProblem(member)]
  switch (member.kind) {
    case 'function':
      return functionProblems(member, descriptor, catalog)
    case 'event':
      return eventProblems(member, descriptor, catalog)
    case 'queryOf':
    case 'orderByOf':
      return handlerProblems(member, descriptor, catalog)
    case 'calculated':
      return descriptor.kind === 'entity' ? [] : [describeMisplaced(member, 'entity', descriptor)]
    case 'job':
      return JOB_KINDS.includes(descriptor.kind)
        ? jobProblems(member)
        : [describeMisplaced(member, 'dataClass', descriptor)]
    case 'schedule':
      return scheduleProblems(member, descriptor)
  }
}

/** Events whose code runs after the outcome is decided. */
const EVENTS_AFTERWARDS: ReadonlySet<EventKind> = new Set(['afterSave', 'afterDrop'])

const mayWait = (member: Member): boolean =>
  ['function', 'job', 'schedule'].includes(member.kind) ||
  (member.kind === 'event' && EVENTS_AFTERWARDS.has(member.event))

const isLoginOf = ({ kind }: ClassDescriptor, { name }: Member): boolean =>
  kind === 'dataStore' && name === 'authentify'

function flowProblem(member: Member): string {
  const what = member.flow === 'generator' ? 'it is a generator' : 'it is asynchronous'
  switch (member.kind) {
    case 'job':
    case 'schedule':
      return `${what}, but nothing reads what it yields`
    case 'function':
      return `${what}, but a login is not a stream; return a value`
    case 'event':
      return `${what}, but this event runs synchronously: nothing would wait for its result; only afterSave and afterDrop may wait`
    case 'queryOf':
    case 'orderByOf':
      return `${what}, but a query waits for no promise`
    case 'calculated':
      return what
  }
}

function functionProblems(member: Of<'function'>, descriptor: ClassDescriptor, catalog: Catalog): string[] {
  const { name, deadlineSeconds, description } = member
  const problems: string[] = []
  if (deadlineSeconds !== undefined && !(typeof deadlineSeconds === 'number' && deadlineSeconds > 0)) {
    problems.push(`deadlineSeconds is ${String(deadlineSeconds)}; a number of seconds above 0 is expected`)
  }
  if (description !== undefined && typeof description !== 'string') problems.push('description is not a text')
  if (name.startsWith('$')) problems.push('names in addresses that begin with "$" belong to the protocol')
  if (descriptor.kind === 'dataStore' && catalog.dataClassesByName.has(name)) {
    problems.push(`$catalog/${name} is the description of the dataclass ${name}; the function needs another name`)
  }
  return problems
}

function scheduleProblems({ name, pattern, timeZone }: Of<'schedule'>, { members }: ClassDescriptor): string[] {
  const problems: string[] = []
  if (!members.some(each => each.kind === 'job' && each.name === name)) problems.push('@schedule needs @job beside it')
  if (typeof pattern !== 'string') problems.push(`the pattern of @schedule is a text; received ${String(pattern)}`)
  if (timeZone !== undefined && typeof timeZone !== 'string') problems.push('timeZone is not a text')
  return problems
}

const EVENTS_OF_ATTRIBUTES: ReadonlySet<EventKind> = new Set([
  ...(['touched', 'validateSave', 'saving', 'validateDrop', 'dropping'] as const),
])
/** Events that run for assigned attributes, which only storage attributes can be. */
const EVENTS_OF_VALUES: ReadonlySet<EventKind> = new Set(['touched', 'validateSave', 'saving'])
const EVENTS: readonly EventKind[] = [...EVENTS_OF_ATTRIBUTES, 'constructor', 'afterSave', 'afterDrop', 'restrict']

function eventProblems(member: Of<'event'>, descriptor: ClassDescriptor, catalog: Catalog): string[] {
  const { event, attribute: name } = member
  if (!EVENTS.includes(event)) return [`there is no event "${String(event)}"${suggestion(String(event), EVENTS)}`]
  const kind = event === 'restrict' ? 'dataClass' : 'entity'
  if (descriptor.kind !== kind) return [describeMisplaced(member, kind, descriptor)]
  if (name === undefined) return []
  if (!EVENTS_OF_ATTRIBUTES.has(event)) {
    return [`the event "${event}" does not belong to an attribute; use @event('${event}')`]
  }
  const dataClass = catalog.dataClassesByName.get(descriptor.dataClass!)!
  const attribute = dataClass.attributesByName.get(name)
  if (!attribute) return [`${dataClass.name} has no attribute "${name}"${suggestAttribute(name, dataClass)}`]
  const reason = EVENTS_OF_VALUES.has(event) ? neverAssigned(attribute) : undefined
  return reason === undefined ? [] : [`the event "${event}" never comes for "${name}": ${reason}`]
}

function neverAssigned(attribute: Attribute): string | undefined {
  switch (attribute.kind) {
    case 'storage':
      return attribute.calculation && 'it is calculated; take an attribute that it is made of'
    case 'calculated':
      return 'it is calculated; take an attribute that it is made of'
    case 'relatedEntity':
      return `its foreign key is assigned instead; use "${attribute.foreignKey.name}"`
    case 'relatedEntities':
      return `it follows from "${attribute.inverse.name}" of ${attribute.target.name}`
    case 'alias':
      return `it is an alias; "${attribute.path.join('.')}" is what is assigned`
  }
}

function handlerProblems(member: Of<'queryOf' | 'orderByOf'>, descriptor: ClassDescriptor, catalog: Catalog): string[] {
  const { attribute: name, kind } = member
  if (descriptor.kind !== 'entity') return [describeMisplaced(member, 'entity', descriptor)]
  const dataClass = catalog.dataClassesByName.get(descriptor.dataClass!)!
  const attribute = dataClass.attributesByName.get(name)
  const calculatedNames = descriptor.members.filter(each => each.kind === 'calculated').map(each => each.name)
  if (!attribute || !calculatedNames.includes(name)) {
    const hint = suggestion(name, calculatedNames)
    return [
      attribute
        ? `"${name}" is not a calculated attribute with a getter in this class${hint}`
        : `${dataClass.name} has no calculated attribute "${name}"${hint}`,
    ]
  }
  if (attribute.kind !== 'calculated') {
    return [`"${name}" is stored: queries look at its values, and never ask a handler`]
  }
  const isUnrestricted = descriptor.members.some(
    each => each.kind === 'calculated' && each.name === name && each.unrestricted,
  )
  if (isUnrestricted)
    return [
      `"${name}" is unrestricted: a query would find only what its caller sees, so its values are compared instead`,
    ]
  const first = descriptor.members.find(each => each.kind === kind && each.attribute === name)
  return first === member ? [] : [`${first!.name} is the @${kind} of "${name}" already`]
}

const KINDS: Readonly<Record<string, ClassKind>> = { Entity: 'entity', Selection: 'entitySelection' }

/** A class whose name suggests another base class: its functions would be expected there. */
function misnamingProblems({ name, kind, dataClass }: ClassDescriptor, catalog: Catalog): string[] {
  const [, subject = '', suffix = ''] = /^(.+)(Entity|Selection)$/.exec(name) ?? []
  const nameKind = KINDS[suffix]
  if (dataClass === undefined || !nameKind || !catalog.dataClassesByName.has(subject)) return []
  if (kind === nameKind && dataClass === subject) return []
  return [
    `its name is that of a class that extends ${BASES[nameKind](subject)}, but it extends ${BASES[kind](dataClass)}`,
  ]
}

/** Names that hide an attribute or cannot be addressed. */
function nameProblems(
  { kind, dataClass: className, members, properties }: ClassDescriptor,
  catalog: Catalog,
): string[] {
  const dataClass = className === undefined ? undefined : catalog.dataClassesByName.get(className)
  if (!dataClass) return []
  const isCalculated = (name: string): boolean => members.some(each => each.kind === 'calculated' && each.name === name)
  // Names that clients use, and in an entity class also names that its code uses.
  const names =
    kind === 'entity' ? properties : members.filter(each => each.kind === 'function').map(({ name }) => name)
  return [...new Set(names)].flatMap(name =>
    dataClass.attributesByName.has(name) && !isCalculated(name)
      ? `"${name}" is the name of an attribute of ${dataClass.name}, which it would hide${
          kind === 'entity' ? '; a field that only has a type is written with "declare"' : ''
        }`
      : [],
  )
}

/** Functions hidden by one of the selection class, which takes precedence for clients. Source: protocol notes, 7.1. */
function shadowingProblems(
  { kind, dataClass, members }: ClassDescriptor,
  classes: readonly ClassDescriptor[],
): string[] {
  if (kind !== 'dataClass') return []
  const selection = classes.find(each => each.kind === 'entitySelection' && each.dataClass === dataClass)
  const names = (selection?.members ?? []).filter(each => each.kind === 'function').map(each => each.name)
  return members
    .filter(each => each.kind === 'function' && names.includes(each.name))
    .map(({ name }) => `"${name}" is reached by no client, because ${selection!.name} has a function of this name`)
}

const BASES: Record<ClassKind, (dataClass: string) => string> = {
  dataStore: () => 'DataStore',
  singleton: () => 'Singleton',
  dataClass: name => `DataClass('${name}')`,
  entity: name => `Entity('${name}')`,
  entitySelection: name => `EntitySelection('${name}')`,
}

/** A member of a class of the wrong kind. */
function describeMisplaced(
  member: Member,
  expectedKind: ClassKind,
  { kind, dataClass = '…' }: ClassDescriptor,
): string {
  const argument = member.kind === 'event' ? `('${member.event}')` : ''
  return (
    `@${decoratorOf(member)}${argument} has no effect in a class that extends ${BASES[kind](dataClass)}; ` +
    `it belongs in one that extends ${BASES[expectedKind](dataClass)}`
  )
}

const suggestAttribute = (name: string, { attributes }: DataClass): string =>
  suggestion(
    name,
    attributes.map(each => each.name),
  )

type Of<K extends Member['kind']> = Extract<Member, { kind: K }>
