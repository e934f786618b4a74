import { protocolTable } from '../support/checks/protocol-table.ts'

/* Keys and unique values that differ in blanks alone: every operation at an address works on the one that it has, letter by letter. */
const KEYS = ['a', ' a', ' "a"', 'b', 'b  ', ' ', '\t']
const ASCENDING = [...KEYS].sort()

const fixture = {
  model: {
    name: 'blanks',
    dataClasses: {
      Tag: {
        key: 'name',
        attributes: {
          name: { type: 'string' },
          code: { type: 'string', unique: true },
          note: { type: 'blob' },
          wholeName: { type: 'string' },
          whole: { kind: 'relatedEntity', type: 'Tag', foreignKey: 'wholeName' },
          parts: { kind: 'relatedEntities', type: 'TagSelection', inverseName: 'whole' },
        },
      },
      Page: { key: 'ID', attributes: { ID: { type: 'long' } } },
    },
  },
  rows: {
    Tag: KEYS.map((name, i) => ({
      name,
      code: `${name}c`,
      note: `data:text/plain;base64,${Buffer.from(String(i)).toString('base64')}`,
      wholeName: name === 'b' ? ' "a"' : null,
    })),
    Page: [{ ID: 1 }, { ID: 2 }],
  },
}

const without = (...keys: string[]) => ({ Tag: ASCENDING.filter(key => !keys.includes(key)) })

protocolTable(
  'blanks in addresses',
  fixture,
  [
    ...KEYS.map(key => ({
      spec: '4.2',
      name: `${JSON.stringify(key)} is its entity`,
      get: `/Tag(${encodeURIComponent(key)})`,
      has: { __KEY: key },
    })),
    ...KEYS.map(key => ({
      spec: '4.2',
      name: `${JSON.stringify(key)} is its entity, in quotes`,
      get: `/Tag[%22${encodeURIComponent(key)}%22]`,
      has: { __KEY: key },
    })),
    ...KEYS.map(key => ({
      spec: '4.2',
      name: `a unique value that begins with ${JSON.stringify(key)} is that of its entity`,
      get: `/Tag:code(${encodeURIComponent(key)}c)`,
      has: { __KEY: key },
    })),
    { spec: '4.2', name: 'blanks are part of an unknown key', get: '/Tag(a%20)', status: 404, errors: [1543] },
    { spec: '4.2', name: 'and of an unknown value', get: '/Tag:code(%20%20ac)', status: 404, errors: [1543] },
    { spec: '4.2', name: 'and of keys in a list', get: '/Tag(a,%20a,%20)', keys: ['a', ' a', ' '] },
    { spec: '4.2', name: 'a number has none', get: '/Page(1,%202)', keys: ['1', '2'] },
    { spec: '4.2', name: 'a blank is no number', get: '/Page(%20)', status: 404, errors: [1543] },
    { spec: '4.2', name: 'an attribute list', get: '/Tag(%20a)/name', has: { __KEY: ' a' } },
    { spec: '4.2', name: 'a blob', get: '/Tag(%20a)/note?$binary=true&$expand=note', text: '1' },
    {
      spec: '4.2',
      name: 'a relation',
      get: '/Tag(%20%22a%22)/parts?$expand=parts',
      has: { parts: { __ENTITIES: [{ __KEY: 'b', whole: { __deferred: { uri: '/rest/Tag(%22%20%22a%22%22)' } } }] } },
    },
    {
      spec: '4.4',
      name: 'a save',
      post: '/Tag?$method=update',
      body: { __KEY: ' a', __STAMP: 1, code: 'new' },
      has: { __KEY: ' a', uri: '/rest/Tag(%22%20a%22)' },
      afterwards: { '/Tag(a)': { code: 'ac' }, '/Tag:code(new)': { __KEY: ' a' } },
    },
    { spec: '4.4', name: 'a deletion', delete: '/Tag(%20a)', left: without(' a') },
    { spec: '4.4', name: 'a deletion as a POST', post: '/Tag(b%20%20)?$method=delete', left: without('b  ') },
    { spec: '4.4', name: 'a deletion of a blank', delete: '/Tag(%20)', left: without(' ') },
    { spec: '4.4', name: 'a deletion by a unique value', delete: '/Tag:code(%20ac)', left: without(' a') },
    { spec: '4.4', name: 'a deletion of nothing', delete: '/Tag(%20b)', status: 404, errors: [1543], left: without() },
  ],
  { isolated: true },
)
