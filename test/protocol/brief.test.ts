/** `$brief`: long values as links with their beginning. */
import { type ProtocolCase, protocolTable } from '../support/checks/protocol-table.ts'
import type { Fixture } from '../support/servers/test-server.ts'

const LONG = 'née "Byron" \\ '.repeat(10)
const BAG = { list: Array.from({ length: 40 }, (_, at) => at), deep: { name: 'x'.repeat(40) } }

const library: Fixture = {
  model: {
    name: 'library',
    dataClasses: {
      Author: {
        key: 'ID',
        attributes: {
          ID: { type: 'string' },
          name: { type: 'string' },
          life: { type: 'string' },
          bag: { type: 'object' },
          portrait: { type: 'vector', dimension: 40 },
          books: { kind: 'relatedEntities', type: 'BookSelection', inverseName: 'author' },
        },
      },
      Book: {
        key: 'ID',
        attributes: {
          ID: { type: 'long' },
          title: { type: 'string' },
          authorID: { type: 'string' },
          author: { kind: 'relatedEntity', type: 'Author', foreignKey: 'authorID', inverseName: 'books' },
          authorLife: { kind: 'alias', path: 'author.life' },
        },
      },
    },
  },
  rows: {
    Author: [
      { ID: 'a/1', name: 'Ada', life: LONG, bag: BAG, portrait: Array(40).fill(0.5) },
      { ID: 'b', name: 'Blaise', life: null, bag: { short: true }, portrait: null },
    ],
    Book: [{ ID: 1, title: 'Notes', authorID: 'a/1' }],
  },
}

const link = (name: string, brief: string) => ({ __deferred: { uri: `/rest/Author(%22a%2F1%22)/${name}`, brief } })
/** 24 bytes of JSON. */
const LIFE = 'née "Byron" \\ née '

const cases: ProtocolCase[] = [
  {
    spec: '4.2',
    name: 'long values of a collection are links with their beginning, short ones stay',
    notRemote: 'jsonb sorts properties, and tables their keys',
    get: '/Author?$brief=24&$orderby=name',
    has: {
      __ENTITIES: [
        {
          name: 'Ada',
          life: link('life', LIFE),
          bag: link('bag', JSON.stringify(BAG).slice(0, 24)),
          portrait: link('portrait', JSON.stringify(Array(40).fill(0.5)).slice(0, 24)),
        },
        { name: 'Blaise', life: null, bag: { short: true }, portrait: null },
      ],
    },
  },
  {
    spec: '4.2',
    name: 'so are values of an entity, and those that a list names',
    get: '/Author("a%2F1")/name,bag.deep?$brief=24',
    has: { name: 'Ada', bag: link('bag', JSON.stringify({ deep: BAG.deep }).slice(0, 24)) },
  },
  {
    spec: '4.2',
    name: 'values of related entities; an alias has no address',
    get: '/Book(1)?$attributes=title,author.life,authorLife&$brief=24',
    has: {
      title: 'Notes',
      author: { life: link('life', LIFE) },
      authorLife: { __deferred: { uri: undefined, brief: LIFE } },
    },
  },
  { spec: '4.2', name: 'the address gives the whole value', get: '/Author(%22a%2F1%22)/life', has: { life: LONG } },
  {
    spec: '4.2',
    name: 'in arrays too',
    get: '/Author?$asArray=true&$brief=20&$attributes=life',
    has: [{ life: { __deferred: {} } }],
  },
  {
    spec: '4.5',
    name: 'in the first page of an entity set',
    notRemote: 'jsonb sorts properties',
    get: '/Author?$method=entityset&$brief=24&$attributes=bag&$orderby=name&$top=1',
    has: { __ENTITIES: [{ bag: link('bag', JSON.stringify(BAG).slice(0, 24)) }] },
  },
  {
    spec: '4.2',
    name: 'values within the bound are whole',
    get: '/Author?$brief=999&$orderby=name',
    has: { __ENTITIES: [{ life: LONG, bag: BAG }] },
  },
  { spec: 'P11', name: 'a length that is too short is refused', get: '/Author?$brief=15', status: 400, errors: [1806] },
  { spec: 'P11', name: 'as is a text that is not a number', get: '/Author?$brief=true', status: 400, errors: [1806] },
]
protocolTable('$brief', library, cases)
