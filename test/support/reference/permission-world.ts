/**
 * A small model, principals and random rights, for tests of what each principal may see. Names are words that pages and answers
 * do not contain otherwise, so that a search finds nothing else.
 */
import { createKey } from '../../../kernel/auth/directory.ts'
import type { Action, AttributeFacts, Principal, RolesFile } from './permissions.ts'
import type { Random } from '../base/random.ts'

export const model = {
  name: 'matrix',
  dataClasses: {
    Team: {
      key: 'ID',
      attributes: {
        ID: { type: 'long', autoFill: 'increment' },
        caption: { type: 'string' },
        budget: { type: 'number' },
        motto: { type: 'string', unique: true },
        members: { kind: 'relatedEntities', type: 'PersonSelection', inverseName: 'team' },
      },
    },
    Person: {
      key: 'ID',
      attributes: {
        ID: { type: 'long', autoFill: 'increment' },
        surname: { type: 'string', indexed: true },
        wage: { type: 'number' },
        squadKey: { type: 'long' },
        team: { kind: 'relatedEntity', type: 'Team', foreignKey: 'squadKey', inverseName: 'members' },
        income: { kind: 'alias', path: 'wage' },
        teamTitle: { kind: 'alias', path: 'team.caption' },
      },
    },
    Note: {
      key: 'ID',
      attributes: {
        ID: { type: 'long', autoFill: 'increment' },
        wording: { type: 'string' },
        authorKey: { type: 'long' },
        writer: { kind: 'relatedEntity', type: 'Person', foreignKey: 'authorKey' },
      },
    },
  },
}
export const rows = {
  Team: [
    { ID: 1, caption: 'Red', budget: 10, motto: 'on' },
    { ID: 2, caption: 'Blue', budget: 20, motto: 'up' },
  ],
  Person: [
    { ID: 1, surname: 'Abel', wage: 1, squadKey: 1 },
    { ID: 2, surname: 'Berg', wage: 2, squadKey: 2 },
    { ID: 3, surname: 'Cole', wage: 3, squadKey: null },
  ],
  Note: [
    { ID: 1, wording: 'one', authorKey: 1 },
    { ID: 2, wording: 'two', authorKey: 2 },
  ],
}
export const FACTS: Readonly<Record<string, AttributeFacts>> = {
  'Team.members': { target: 'Person', foreignKey: 'Person.squadKey' },
  'Person.team': { target: 'Team', foreignKey: 'Person.squadKey' },
  'Note.writer': { target: 'Person', foreignKey: 'Note.authorKey' },
}
export type ClassName = keyof typeof model.dataClasses
export const CLASSES = Object.keys(model.dataClasses) as ClassName[]
export const SCALARS: Record<ClassName, readonly string[]> = {
  Team: ['caption', 'budget', 'motto'],
  Person: ['surname', 'wage', 'squadKey', 'income', 'teamTitle'],
  Note: ['wording', 'authorKey'],
}
export const RELATIONS: Record<ClassName, readonly string[]> = { Team: ['members'], Person: ['team'], Note: ['writer'] }
/** Relations over which attributes of a dataclass are reached from another one. */
export const VIA: Record<ClassName, { from: ClassName; relation: string } | undefined> = {
  Team: { from: 'Person', relation: 'team' },
  Person: { from: 'Note', relation: 'writer' },
  Note: undefined,
}
export const VALUES: Readonly<Record<string, unknown>> = {
  caption: 'Green',
  budget: 77,
  motto: 'new',
  surname: 'Zorn',
  wage: 99,
  squadKey: 2,
  wording: 'three',
  authorKey: 2,
}

export const PRINCIPALS: readonly (Principal & { key: string })[] = [
  { name: 'guest', privileges: [], roles: [], key: '' },
  { name: 'one', privileges: ['ALPHA'], roles: [], key: createKey() },
  { name: 'two', privileges: ['beta', 'unheard-of'], roles: [], key: createKey() },
  { name: 'role', privileges: [], roles: ['Staff'], key: createKey() },
  { name: 'chain', privileges: ['omega'], roles: [], key: createKey() },
]
const PRIVILEGES = [
  { privilege: 'alpha' },
  { privilege: 'Beta', includes: [] },
  { privilege: 'gamma', includes: ['beta'] },
  // Names that lead back to themselves.
  { privilege: 'omega', includes: ['gamma', 'OMEGA'] },
]

export function randomRoles(random: Random): RolesFile {
  const allowed: RolesFile['permissions']['allowed'] = []
  const add = (type: string, applyTo: string, actions: readonly Action[], probability: number) => {
    const settings = random.some(actions, probability)
    if (settings.length === 0) return
    const names = () => [...random.some(['alpha', 'BETA', 'gamma', 'omega'], 0.35), ...random.some(['Guest'], 0.1)]
    allowed.push({ applyTo, type, ...Object.fromEntries(settings.map(action => [action, names()])) })
  }
  const data = ['create', 'read', 'update', 'drop'] as const
  add('datastore', 'ds', [...data, 'execute'], 0.25)
  for (const dataClass of CLASSES) {
    add('dataclass', dataClass, [...data, 'execute'], 0.35)
    for (const name of [...SCALARS[dataClass], ...RELATIONS[dataClass]])
      add('attribute', `${dataClass}.${name}`, data, 0.2)
  }
  for (const name of ['ds.hello', 'Team.cheer', 'Person.greet', 'Person.crowd']) add('method', name, ['execute'], 0.4)
  add('singleton', 'Bell', ['execute'], 0.5)
  add('singletonMethod', 'Bell.ring', ['execute'], 0.4)
  return {
    privileges: PRIVILEGES,
    roles: [{ role: 'staff', privileges: ['gamma'] }],
    permissions: { allowed },
    restrictedByDefault: random.chance(0.25),
  }
}
