/** Decimals over HTTP: saved, sent, found, sorted and added up to the last digit. */
import t from 'tap'
import { type ProtocolCase, protocolTable } from '../support/checks/protocol-table.ts'
import { type Fixture, startServer } from '../support/servers/test-server.ts'

const money = (more: object = {}) => ({ type: 'decimal', scale: 2, ...more })

const shop: Fixture = {
  model: {
    name: 'shop',
    dataClasses: {
      Rate: {
        key: 'percent',
        attributes: {
          percent: money(),
          items: { kind: 'relatedEntities', type: 'ItemSelection', inverseName: 'rate' },
        },
      },
      Item: {
        key: 'ID',
        attributes: {
          ID: { type: 'long' },
          price: money({ indexed: true }),
          cost: money(),
          exact: { type: 'decimal', scale: 6, asText: true, indexed: true },
          sku: money({ unique: true }),
          bounded: money({ minValue: 0.1, maxValue: 99.995 }),
          whole: { type: 'decimal', scale: 0 },
          percent: money(),
          double: { type: 'number' },
          any: { type: 'object' },
          rate: { kind: 'relatedEntity', type: 'Rate', foreignKey: 'percent', inverseName: 'items' },
          alsoPrice: { kind: 'alias', path: 'price' },
          rateOf: { kind: 'alias', path: 'rate.percent' },
        },
      },
    },
  },
  rows: {
    Rate: [{ percent: '19' }, { percent: 7.5 }],
    Item: [
      { ID: 1, price: '0.10', cost: 0.1, exact: '0.1', sku: 1, percent: 19, double: 0.1, any: { x: 0.1 } },
      { ID: 2, price: 0.2, cost: '1.1', exact: '-2.000001', sku: 2, percent: '7.50' },
      { ID: 3, price: 0.3, cost: -5, exact: '123456789012.345678', sku: 3, percent: 19 },
      { ID: 4, price: '9999999999999999.99', cost: null, exact: null, sku: 4 },
      { ID: 5, price: '9999999999999999.98', cost: '1.10', exact: '7', sku: 5 },
      { ID: 6, price: null, cost: 100, exact: '0.100000', sku: null },
    ],
  },
}

const found = (spec: string, name: string, filter: string, keys: readonly string[], more = ''): ProtocolCase => ({
  spec,
  name: `${name}: ${filter}`,
  get: `/Item?$filter="${encodeURIComponent(filter)}"${more}`,
  keys,
})
const ordered = (name: string, orderBy: string, keys: readonly string[]): ProtocolCase => ({
  spec: 'P2.12',
  name,
  get: `/Item?$orderby="${encodeURIComponent(orderBy)}"`,
  keys,
})
const computed = (name: string, path: string, keyword: string, text: string): ProtocolCase => ({
  spec: 'P6.6',
  name,
  get: `/${path}${path.includes('?') ? '&' : '?'}$compute=${keyword}`,
  text,
})
const params = (values: string): string => `&$params=${encodeURIComponent(values)}`

protocolTable('decimals are read', shop, [
  // Answers
  {
    spec: 'P3.3',
    name: 'a key is a text with all decimal places',
    get: '/Rate(7.5)',
    has: { __KEY: '7.50', percent: 7.5 },
  },
  { spec: '4.2', name: 'an address may spell the key in any way', get: '/Rate("07.500")', has: { __KEY: '7.50' } },
  { spec: '4.2', name: 'a number between two keys is none of them', get: '/Rate(7.501)', status: 404, errors: [1543] },
  { spec: '4.2', name: 'a unique attribute addresses', get: '/Item:sku(2.0)', has: { __KEY: '2' } },
  {
    spec: 'P3.1',
    name: 'the catalog calls them numbers or texts, which clients know',
    get: '/$catalog/Item',
    has: {
      attributes: [
        { name: 'ID', type: 'long', scale: undefined },
        { name: 'price', type: 'number', scale: 2, indexed: true },
        { name: 'cost', type: 'number' },
        { name: 'exact', type: 'string', scale: 6 },
        { name: 'sku', unique: true },
        { name: 'bounded', minValue: 0.1, maxValue: 99.995 },
        { name: 'whole', type: 'number', scale: 0 },
        { name: 'percent', type: 'number' },
        { name: 'double', scale: undefined },
        { name: 'any', type: 'object' },
        { name: 'rate', type: 'Rate' },
        { name: 'alsoPrice', kind: 'alias', type: 'number', scale: 2 },
        { name: 'rateOf', kind: 'alias', type: 'number', scale: 2 },
      ],
    },
  },

  // Filters
  ...(['price', 'cost'] as const).flatMap(name => {
    const of = (indexed: readonly string[], scanned: readonly string[]) => (name === 'price' ? indexed : scanned)
    return [
      found('P2.7', 'trailing zeros do not matter', `${name} = 0.100`, of(['1'], ['1'])),
      found('P2.7', 'nor an exponent', `${name} = 1e-1`, of(['1'], ['1'])),
      found('P2.7', 'nor quotes', `${name} = "1.1"`, of([], ['2', '5'])),
      found('P2.7', 'more places than the scale are never equal', `${name} = 0.1000000000000000055`, []),
      found(
        'P2.7',
        'nor are they rounded by !=',
        `${name} != 0.101`,
        of(['1', '2', '3', '4', '5'], ['1', '2', '3', '5', '6']),
      ),
      found('P2.7', 'they are less', `${name} < 0.1001`, of(['1'], ['1', '3'])),
      found('P2.7', 'less or equal', `${name} <= 0.0999`, of([], ['3'])),
      found('P2.7', 'greater', `${name} > 0.0999`, of(['1', '2', '3', '4', '5'], ['1', '2', '5', '6'])),
      found('P2.7', 'or greater than or equal', `${name} >= 0.1001`, of(['2', '3', '4', '5'], ['2', '5', '6'])),
      found('P2.7', 'a range', `${name} > 0.1 and ${name} < 1.10`, of(['2', '3'], [])),
      found(
        'P2.7',
        'beyond all that can be stored',
        `${name} < 1e30`,
        of(['1', '2', '3', '4', '5'], ['1', '2', '3', '5', '6']),
      ),
      found('P2.7', 'and below', `${name} > -1e30`, of(['1', '2', '3', '4', '5'], ['1', '2', '3', '5', '6'])),
      found('P2.7', 'a list', `${name} in [0.1, 1.1, 0.30, 7.001]`, of(['1', '3'], ['1', '2', '5'])),
      found('P2.8', 'null', `${name} = null`, of(['6'], ['4'])),
      found('P2.8', 'not null', `${name} != null`, of(['1', '2', '3', '4', '5'], ['1', '2', '3', '5', '6'])),
    ]
  }),
  found('P2.7', 'to the last of 18 digits', 'price = 9999999999999999.99', ['4']),
  found('P2.7', 'with one in between', 'price > 9999999999999999.985', ['4']),
  found('P2.7', 'a text of six places', 'exact = 123456789012.345678', ['3']),
  found('P2.7', 'negative ones', 'exact <= -2.000001', ['2']),
  found('P2.7', 'between negative ones', 'exact < -2.0000005', ['2']),
  found('P1.3', 'a number of $params', 'price = :1', ['3'], params('[0.3]')),
  found('P1.3', 'a text of $params', 'price = :1', ['3'], params('["0.30"]')),
  found('P1.3', 'the sum of doubles is not a decimal', 'price = :1', [], params('[0.30000000000000004]')),
  found('P1.3', 'a long number of $params', 'price = :1', ['5'], params('[9999999999999999.98]')),
  found('P1.3', 'a list of $params', 'price in :1', ['1', '4'], params('[[0.10, 9999999999999999.99]]')),
  found('P1.3', 'a long number is not a decimal either', 'price = :1', [], params('[0.1000000000000000055]')),
  found('P1.3', 'long numbers are rounded for doubles', 'double = :1', ['1'], params('[0.1000000000000000055]')),
  found('P1.3', 'and inside objects', 'any.x = :1', ['1'], params('[0.1000000000000000055]')),
  {
    spec: 'P1.3',
    name: 'a long number in the body of $query',
    post: '/Item/$query',
    body: Buffer.from('{"$filter":"price = :1","$params":[9999999999999999.98]}'),
    keys: ['5'],
  },
  found('P2.9', 'behind a relation', 'rate.percent = 19.0', ['1', '3']),
  found('P2.9', 'and by its key', 'rate = 7.5', ['2']),
  found('P3.5', 'by an alias', 'alsoPrice <= 0.2', ['1', '2']),
  {
    spec: 'P2.9',
    name: 'from the other side',
    get: `/Rate?$filter="${encodeURIComponent('items.price > 0.1 and items.price < 0.25')}"`,
    keys: ['7.50'],
  },
  {
    spec: 'P2.7',
    name: 'a text that is not a number is refused',
    get: `/Item?$filter="${encodeURIComponent('price = abc')}"`,
    status: 400,
    errors: [1508],
  },
  {
    spec: 'P2.3',
    name: 'begin is for texts',
    get: `/Item?$filter="${encodeURIComponent('exact begin 1')}"`,
    status: 400,
    errors: [1112],
  },
  {
    spec: 'P2.14',
    name: 'a query plan shows them with their decimal point',
    notRemote: 'the plan shows a statement',
    get: `/Item?$filter="${encodeURIComponent('cost > 0.105')}"&$queryplan=true`,
    has: { __queryPlan: { item: 'Item.cost > 0.10' } },
  },

  // Orders
  ordered('ascending by an index', 'price', ['6', '1', '2', '3', '5', '4']),
  ordered('descending', 'price desc', ['4', '5', '3', '2', '1', '6']),
  ordered('by a column', 'cost asc, ID desc', ['4', '3', '1', '5', '2', '6']),
  ordered('texts sort as numbers', 'exact', ['4', '2', '1', '6', '5', '3']),
  ordered('behind a relation', 'rate.percent desc, ID', ['1', '3', '2', '4', '5', '6']),

  // Aggregates
  computed('a sum is exact', 'Item/price?$filter="ID<4"', 'sum', '0.60'),
  computed('beyond 18 digits too', 'Item/price', 'sum', '20000000000000000.57'),
  computed('an average has six more places, rounded', 'Item/cost', 'average', '19.46000000'),
  computed('halves go away from zero', 'Item/exact?$filter="ID<3"', 'average', '"-0.950000500000"'),
  computed('a third', 'Item/price?$filter="ID=1 or ID=2 or ID=4"', 'average', '3333333333333333.43000000'),
  computed('the lowest', 'Item/cost', 'min', '-5.00'),
  computed('the highest', 'Item/price', 'max', '9999999999999999.99'),
  computed('of texts', 'Item/exact', 'max', '"123456789012.345678"'),
  computed(
    'all of them',
    'Item/cost?$filter="ID<3"',
    '$all',
    '{"cost":{"count":2,"sum":1.20,"average":0.60000000,"min":0.10,"max":1.10}}',
  ),
  computed('of nothing', 'Item/whole', '$all', '{"whole":{"count":0,"sum":0,"average":null,"min":null,"max":null}}'),
  computed('behind a relation', 'Item/rate.percent', 'sum', '45.50'),
  computed('different values once', 'Item/cost?$distinct=true', 'sum', '96.20'),
  { spec: 'P6.7', name: 'different values', get: '/Item/cost?$distinct=true', text: '[-5.00,0.10,1.10,100.00]' },
  {
    spec: 'P6.7',
    name: 'as texts',
    get: '/Item/exact?$distinct=true',
    text: '["-2.000001","0.100000","7.000000","123456789012.345678"]',
  },
])

const item = (values: string) => ({ post: '/Item?$method=update', body: Buffer.from(`{"ID":9,${values}}`) })
const saved = (name: string, values: string, has: object): ProtocolCase => ({ spec: '4.4', name, ...item(values), has })
const refused = (
  name: string,
  values: string,
  errors: readonly number[],
  message: RegExp,
  status = 422,
): ProtocolCase => ({
  spec: '4.4',
  name,
  ...item(values),
  status,
  errors: [...errors, 1534],
  has: { __ERROR: [{ message }] },
})

protocolTable(
  'decimals are saved',
  shop,
  [
    saved('a number', '"price":12.5', { price: 12.5 }),
    saved('a text', '"exact":" +1.5e3 "', { exact: '1500.000000' }),
    saved('a long number', '"exact":123456789012.345679', { exact: '123456789012.345679' }),
    saved('a long number as a key', '"rate":7.5000000000000000', { percent: 7.5 }),
    saved('a long number is rounded elsewhere', '"double":0.1000000000000000055,"any":{"x":[1.23456789012345678]}', {
      double: 0.1,
      any: { x: [Number('1.23456789012345678')] },
    }),
    saved('a long integer', '"whole":999999999999999999', { whole: Number('999999999999999999') }),
    saved('zeros beyond the scale', '"price":1.1000', { price: 1.1 }),
    saved('a bound', '"bounded":0.1', { bounded: 0.1 }),
    saved('a relation by its key', '"rate":{"__KEY":"7.5"}', { percent: 7.5, rate: { __deferred: { __KEY: '7.50' } } }),
    saved('a relation by its foreign key', '"percent":"07.5"', { rate: { __deferred: { uri: '/rest/Rate(7.50)' } } }),
    saved('an alias', '"alsoPrice":3', { price: 3, alsoPrice: 3 }),
    refused(
      'a digit too many',
      '"price":0.105',
      [1508],
      /^price cannot be 0\.105; a decimal number of at most 16 digits before the point and 2 after it is expected$/,
    ),
    refused('a sum of doubles', '"price":0.30000000000000004', [1508], /^price cannot be/),
    refused(
      'a digit that a double would lose',
      '"price":1234567890123.450000000000001',
      [1508],
      /^price cannot be 1234567890123\.450000000000001; /,
    ),
    refused('a digit beyond the precision of a double', '"price":1e-400', [1508], /^price cannot be 1e-400; /),
    refused('a number that is too large', '"price":10000000000000000', [1508], /16 digits before the point/),
    refused('no number', '"price":"1,5"', [1508], /^price cannot be "1,5"/),
    refused('a bool', '"price":true', [1508], /^price cannot be true/),
    refused('below the minimum', '"bounded":0.09', [1568], /^bounded is 0\.09; at least 0\.1 is expected$/),
    refused('above the maximum', '"bounded":"100.0"', [1569], /^bounded is 100\.00; at most 99\.995 is expected$/),
    refused('twice the same', '"sku":"3.0"', [1115], /"3\.00"/, 409),
    refused('an empty key', '"percent":8', [1155], /"8\.00"/, 409),
    {
      spec: '4.4',
      name: 'a whole entity that is sent back is unchanged',
      post: '/Item?$method=update',
      body: { __KEY: '2', __STAMP: 1, price: 0.2, cost: 1.1, exact: '-2.000001', percent: 7.5 },
      has: { __STAMP: 1 },
    },
  ],
  { isolated: true },
)

t.test('answers have all decimal places, and digits beyond 2^53', async t => {
  const server = await startServer(t, shop)
  const { text } = await server.get('/Item/price,exact?$filter="ID=1 or ID>3"&$orderby=ID')
  t.strictSame(text.match(/"price":[^}]*/g), [
    '"price":0.10,"exact":"0.100000"',
    '"price":9999999999999999.99,"exact":null',
    '"price":9999999999999999.98,"exact":"7.000000"',
    '"price":null,"exact":"0.100000"',
  ])
})
