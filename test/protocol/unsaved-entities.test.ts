/** Calculated attributes and aliases of entities that `$refresh` shows and does not save. */
import type { company } from '../support/fixtures/company.ts'
import { type ProtocolCase, protocolTable } from '../support/checks/protocol-table.ts'
import { aliased, config } from './calculated-cases.ts'

const created = {
  firstName: 'Emmy',
  lastName: 'Noether',
  salary: 24_000,
  managerID: 1,
  employerID: 2,
  hired: '1915-04-01',
}
const shown = {
  __KEY: '7',
  __STAMP: 0,
  fullName: 'Emmy Noether',
  monthly: 2000,
  boss: 'Lovelace',
  anniversary: '2032-04-01',
  card: { name: 'Noether', reports: 0 },
  initials: 'EN',
}
const refresh = '/Employee?$method=update&$refresh=true'

/** Entities that are shown as they would be saved. */
const previews: ProtocolCase[] = [
  {
    spec: 'P5.7',
    name: '$refresh of a new entity shows calculated attributes',
    post: refresh,
    body: created,
    has: shown,
  },
  {
    spec: 'P5.7',
    name: 'of several, of an existing one and of one that fails too',
    post: refresh,
    body: [
      created,
      { __KEY: '2', __STAMP: 1, salary: 120 },
      { lastName: 'X', salary: 2_000_000 },
      { ...created, lastName: 'Ash' },
    ],
    status: 422,
    has: {
      __ENTITIES: [
        shown,
        { __KEY: '2', fullName: 'Kurt Gödel', monthly: 10 },
        { __STATUS: { success: false } },
        { fullName: 'Emmy Ash', initials: 'EA', card: { name: 'Ash', reports: 0 } },
      ],
    },
  },
  {
    spec: 'P5.5',
    name: 'an atomic save that fails shows them for the entities that did not fail',
    post: '/Employee?$method=update&$atomic=true',
    body: [created, { lastName: 'X', salary: 2_000_000 }, { __KEY: '2', __STAMP: 1, salary: 120 }],
    status: 422,
    has: {
      __ENTITIES: [
        { fullName: 'Emmy Noether', monthly: 2000, boss: 'Lovelace', initials: 'EN' },
        { __STATUS: { success: false } },
        { __KEY: '2', __STAMP: 1, monthly: 10 },
      ],
    },
  },
  {
    spec: 'P4.2',
    name: 'with relations, aliases and a list',
    post: `${refresh}&$expand=employer,manager,directReports`,
    body: created,
    has: {
      ...shown,
      who: 'Emmy Noether',
      short: 'EN',
      bossName: 'Ada Lovelace',
      bossMonthly: 7500,
      firmName: 'Éclair',
      employer: { name: 'Éclair' },
      manager: { fullName: 'Ada Lovelace', monthly: 7500 },
      directReports: { __COUNT: 0 },
    },
  },
  {
    spec: 'P4.2',
    name: '$attributes names them, and those of related entities',
    post: `${refresh}&$attributes=fullName,manager.monthly,bossMonthly,card.name`,
    body: [created],
    has: {
      __ENTITIES: [
        { fullName: 'Emmy Noether', manager: { monthly: 7500 }, bossMonthly: 7500, card: { name: 'Noether' } },
      ],
    },
  },
  {
    spec: 'P3.8',
    name: 'a new entity that is set by a calculated attribute',
    post: refresh,
    body: { fullName: 'Mary Jackson' },
    has: { firstName: 'Mary', lastName: 'Jackson', fullName: 'Mary Jackson', monthly: null, initials: 'MJ' },
  },
  { spec: 'P5.7', name: 'nothing is saved', get: '/Employee?$top=0', count: 6 },
]

protocolTable('unsaved entities', aliased as unknown as typeof company, previews, { config })
