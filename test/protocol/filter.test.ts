import t from 'tap'
import { company } from '../support/fixtures/company.ts'
import { type ProtocolCase, protocolTable } from '../support/checks/protocol-table.ts'
import { startServer } from '../support/servers/test-server.ts'

const on =
  (dataClass: string) =>
  (spec: string, name: string, filter: string, keys: string[], params?: unknown): ProtocolCase => ({
    spec,
    name: `${name}: ${filter}`,
    get: `/${dataClass}?$filter="${encodeURIComponent(filter)}"${params === undefined ? '' : `&$params='${encodeURIComponent(JSON.stringify(params))}'`}`,
    keys,
    count: keys.length,
  })
const employee = on('Employee')
const companies = on('Company')
const tag = on('Tag')

protocolTable('$filter', company, [
  // Comparators
  employee('4.3.1', 'equals', 'lastName = Hopper', ['4']),
  employee('P2.3', 'like is equals', 'lastName like Hopper', ['4']),
  employee('P2.3', 'eq is equals', 'lastName eq Hopper', ['4']),
  employee('P2.6', 'equals ignores case and accents', 'lastName = GODEL', ['2']),
  employee('P2.6', 'is ignores case and accents too', 'firstName === emile', ['3']),
  employee('4.3.1', 'not equal', 'lastName != Hopper', ['1', '2', '3', '5', '6']),
  employee('P2.3', '# is not equal', 'ID # 1', ['2', '3', '4', '5', '6']),
  employee('P2.8', 'not equal leaves nulls out', 'salary != 45000', ['1', '4', '6']),
  employee('4.3.1', 'greater', 'salary > 45000', ['1', '4']),
  employee('4.3.1', 'greater or equal', 'salary >= 45000', ['1', '2', '3', '4']),
  employee('4.3.1', 'less', 'salary < 45000', ['6']),
  employee('4.3.1', 'less or equal', 'salary <= 45000', ['2', '3', '6']),
  employee('P2.3', 'words for comparators', 'salary gte 90000', ['1', '4']),
  employee('4.3.1', 'begins with', 'lastName begin ho', ['4']),
  employee('P2.5', 'wildcard at the end', 'lastName = "g@"', ['2']),
  employee('P2.5', 'wildcard at the start', 'lastName = "@ing"', ['5']),
  employee('P2.5', 'wildcard on both sides', 'lastName = "@o@"', ['1', '2', '3', '4']),
  employee('P2.5', 'wildcard in the middle', 'lastName = "l@e"', ['1']),
  employee('P2.5', 'is takes @ literally', 'lastName === "g@"', []),
  employee('P2.5', '* is not a wildcard', 'lastName = "g*"', []),
  employee('P2.3', 'not equal with a wildcard', 'lastName != "@o@"', ['5', '6']),
  employee('P2.3', 'in a list', 'lastName in ["Smith","godel"]', ['2', '6']),
  employee('P1.3', 'in a placeholder', 'ID in :1', ['1', '3'], [[1, 3]]),
  employee('P2.3', 'contains a keyword', 'notes % wrote', ['1']),
  employee('P2.3', 'a keyword is a whole word', 'notes % wrot', []),
  employee('P2.3', 'a keyword may be a prefix', 'notes % "wrot@"', ['1']),
  employee('P2.3', 'a boolean stands alone', 'woman', ['1', '4', '6']),
  employee('P2.3', 'not of a boolean that stands alone', 'not woman', ['2', '3', '5']),
  // Conjunctions
  employee('4.3.1', 'AND', 'woman = true AND salary > 50000', ['1', '4']),
  employee('4.3.1', 'OR', 'ID = 1 OR ID = 5', ['1', '5']),
  employee('4.3.1', 'EXCEPT', 'woman = true EXCEPT salary > 100000', ['1', '6']),
  employee('P2.1', 'symbols', 'ID=1|ID=2 & salary=45000', ['2']),
  employee('D2', 'there is no precedence', 'ID = 1 or ID = 2 and salary = 45000', ['2']),
  employee('P2.4', 'parentheses bind', 'ID = 1 or (ID = 2 and salary = 45000)', ['1', '2']),
  employee('P2.4', 'NOT of a group', 'not (salary = 45000 or woman = true)', []),
  employee('D2', 'NOT keeps nulls out', 'not (salary < 50000)', ['1', '4']),
  employee('P2.2', 'no blanks are needed', 'salary>40000&woman=true', ['1', '4']),
  employee('4.3.1', 'bounds that meet leave one value', 'salary >= 45000 and salary <= 45000', ['2', '3']),
  employee('4.3.1', 'each of which must include it', 'salary > 45000 and salary <= 45000', []),
  // Null
  employee('P2.8', 'null', 'salary = null', ['5']),
  employee('P2.8', 'not null', 'salary != null', ['1', '2', '3', '4', '6']),
  employee('P2.8', 'a N→1 relation to nothing', 'employer = null', ['5']),
  employee('P2.8', 'a N→1 relation to something', 'employer != null', ['1', '2', '3', '4', '6']),
  companies('P2.8', 'a 1→N relation with none', 'staff = null', ['4']),
  companies('P2.8', 'a 1→N relation with some', 'staff != null', ['1', '2', '3']),
  // Values
  employee('P2.7', 'an ISO date', 'hired = 2020-02-29', ['3']),
  employee('P2.7', 'a day-first date', 'hired = "!29!2!2020"', ['3']),
  employee('P2.7', 'a day-first date as it is returned by older servers', 'hired = "29!2!2020"', ['3']),
  employee('P2.7', 'a date-time against a date-only attribute compares the date', 'hired = 2020-02-29T15:00:00Z', [
    '3',
  ]),
  employee(
    '2.5',
    'of a date-only attribute the day as written counts, as on saving',
    'hired = 2020-02-29T23:30:00-05:00',
    ['3'],
  ),
  employee('2.5', 'also before midnight UTC', 'hired = "2020-02-29T00:30:00+02:00"', ['3']),
  employee('2.5', 'also by placeholder', 'hired = :1', ['3'], ['2020-02-29T23:30:00-05:00']),
  employee(
    '2.5',
    'also in a list',
    'hired in :1',
    ['2', '3'],
    [['2020-02-29T23:30:00-05:00', '2012-06-15T00:30+05:00']],
  ),
  employee('P2.7', 'of a date-time the offset counts', 'birthDate = 1985-12-10T10:30:00+02:00', ['1']),
  employee('P2.7', 'dates have an order', 'hired >= 2012-06-15 and hired < 2020-03-01', ['2', '3']),
  employee('P2.7', 'a date-time', 'birthDate = 1985-12-10T08:30:00Z', ['1']),
  employee('P2.7', 'a duration in milliseconds', 'dailyWork = 3600000', ['4']),
  employee('P2.7', 'a duration as time', 'dailyWork > 01:00:00', ['1']),
  employee('P2.7', 'a boolean by number', 'woman = 1', ['1', '4', '6']),
  employee('D2', 'a decimal literal is not truncated', 'ID > 1.5 and ID < 2.5', ['2']),
  employee('P2.7', 'a plain single quote inside a word', "lastName=O'Reilly", ['3']),
  tag('3.2', 'a long64 is compared exactly', 'größe = 9223372036854775807', ['00000000000000000000000000000001']),
  ...(['größe = :1', 'größe >= :1', 'größe in [9223372036854775807,5]', 'größe in :2', 'größe = :big'] as const).map(
    (filter): ProtocolCase => ({
      spec: '3.2',
      name: `digits beyond 2^53 in $params count: ${filter}`,
      get: `/Tag?$filter="${encodeURIComponent(filter)}"&$params=[9223372036854775807,[5,9223372036854775807],{"big":9223372036854775807}]`,
      keys: ['00000000000000000000000000000001'],
    }),
  ),
  {
    spec: '3.2',
    name: 'a neighbour in $params does not match',
    get: '/Tag?$filter="größe = :1"&$params=[9223372036854775806]',
    keys: [],
  },
  {
    spec: '3.2',
    name: 'digits beyond 2^53 in the body of $query count',
    post: '/Tag/$query',
    body: Buffer.from('{"$filter":"größe = :1 or größe > :2","$params":[9223372036854775806,9223372036854775806]}'),
    keys: ['00000000000000000000000000000001'],
  },
  {
    spec: '3.2',
    name: 'digits beyond 2^53 in a long one count',
    post: '/Tag/$query',
    body: Buffer.from(
      '{"$filter":"größe = :1 or größe > :2","$params":[9223372036854775806,9223372036854775806]}'.padEnd(100_000),
    ),
    keys: ['00000000000000000000000000000001'],
  },
  {
    spec: '3.2',
    name: 'and are rounded where an attribute holds doubles',
    get: '/Tag?$filter="float < :1 and float > :2 and id = :3"&$params=[9223372036854775807,-12500000000000000000,"0000000000000000000000000000000A"]',
    keys: ['0000000000000000000000000000000A'],
  },
  tag('3.2', 'a neighbouring long64 does not match', 'größe = 9223372036854775806', []),
  tag('P1.4', 'a uuid in lower case', 'id = 0000000000000000000000000000000a', ['0000000000000000000000000000000A']),
  // Placeholders
  employee('4.3.1', 'placeholders in order', 'lastName = :1 or lastName = :2', ['4', '6'], ['hopper', 'smith']),
  employee('4.3.1', 'a quote by its code', 'lastName = :1', ['3'], ["O'Reilly"]),
  employee('P2.11', 'a named placeholder', 'lastName = :who', ['4'], { parameters: { who: 'hopper' } }),
  employee('P2.11', 'a name of an object in the array of values', 'lastName = :fn', ['4'], [{ fn: 'hopper' }]),
  employee(
    'P2.11',
    'names of several objects beside values',
    'lastName = :b or ID = :1 or ID in :ids',
    ['1', '2', '4'],
    [1, { a: 5, ids: [2] }, { b: 'hopper', a: 3 }],
  ),
  employee('P2.11', 'a property behind such a name', 'lastName = :who.last', ['4'], [{ who: { last: 'hopper' } }]),
  employee('4.3.1', 'a text between character codes of quotes', 'lastName = \\u0022Hopper\\u0022', ['4']),
  employee('4.3.1', 'with a blank', 'firstName = \\u0022no one\\u0022 or lastName = \\u0022hop@\\u0022', ['4']),
  employee('P2.11', 'a placeholder for the attribute', ':1 = 4', ['4'], ['ID']),
  // Relations
  employee('4.3.1', 'through a N→1 relation', 'employer.name = acme', ['1', '2']),
  employee('P2.9', 'through two N→1 relations', 'manager.employer.name = acme', ['2', '3', '4']),
  employee('D2', 'null through a N→1 relation to nothing', 'employer.name = null', ['5']),
  employee('D2', 'not equal through a N→1 relation to nothing does not match', 'employer.name != "x"', [
    '1',
    '2',
    '3',
    '4',
    '6',
  ]),
  companies('P2.9', 'some of a 1→N relation', 'staff.salary > 100000', ['2']),
  companies('P2.9', 'AND shares the related entity', 'staff.woman = true and staff.salary < 100000', ['1', '3']),
  companies('P2.9', 'a class index asks for another related entity', 'staff.woman = true and staff{2}.woman = false', [
    '1',
    '2',
  ]),
  companies('D2', 'not equal on a 1→N relation: some differs', 'staff.salary != 45000', ['1', '2', '3']),
  companies('D2', 'NOT of a 1→N relation includes those with none', 'not (staff.salary = 45000)', ['3', '4']),
  employee('P2.9', 'an alias path', 'employerName = "é@"', ['3', '4']),
  employee('P3.9', 'an alias of an own attribute', 'pay = 120000', ['4']),
  employee('P2.9', 'through N→1 and back by 1→N', 'employer.staff.lastName = Hopper', ['3', '4']),
  // Objects
  companies('P2.10', 'an object property', 'info.address.city = paris', ['1']),
  companies('P2.8', 'a missing property is null', 'info.address.city = null', ['3', '4']),
  companies('P2.10', 'any element of a collection', 'info.offices[].city = Lyon', ['1']),
  companies('P2.10', 'any element of a collection of scalars', 'info.tags[] = BIG', ['1']),
  companies('P2.10', 'two conditions on any elements', 'info.offices[].city = Lyon and info.offices[].size = 10', [
    '1',
  ]),
  companies(
    'P2.10',
    'a letter links conditions to one element',
    'info.offices[a].city = Lyon and info.offices[a].size = 10',
    [],
  ),
  companies('P2.10', 'a linked element that fits both', 'info.offices[a].city = Lyon and info.offices[a].size = 3', [
    '1',
  ]),
  companies('P2.10', '[] with not equal: all differ', 'info.tags[] != big', []),
  companies('P2.10', '[] with not equal to a value that none has', 'info.tags[] != huge', ['1']),
  companies('P2.10', 'the length of a collection', 'info.tags.length = 2', ['1']),
  // Members that every entity has besides its attributes
  employee('2.5', '__KEY is the key', '__KEY = 3', ['3']),
  employee('2.5', 'keys in a list', '__KEY in :1', ['1', '4'], [['1', 4, 99]]),
  employee('2.5', 'keys in a list in place', '__KEY in ["2","5"]', ['2', '5']),
  employee('2.5', 'an order of keys', '__KEY > 2 and __KEY <= 4', ['3', '4']),
  tag('2.5', 'a key that is a text', '__KEY = 0000000000000000000000000000000A', ['0000000000000000000000000000000A']),
  employee('2.5', 'the key of a related entity', 'employer.__KEY = 2', ['3', '4']),
  companies('2.5', 'keys of related entities', 'staff.__KEY in :1', ['1', '2'], [[2, 3]]),
  employee('2.5', '__STAMP', '__STAMP = 1 and ID < 3', ['1', '2']),
  employee('2.5', 'no entity has another global stamp', '__STAMP != 1 or __STAMP = null', []),
  employee('2.5', '__TIMESTAMP', '__TIMESTAMP > 2020-01-31T00:00:00Z and ID = 1', ['1']),
  employee('2.5', 'no entity has a later one than its own', '__TIMESTAMP >= 2900-01-01', []),
  employee('P3.6', '__GlobalStamp, by which clients ask for what has changed', '__GlobalStamp > 0 and ID = 4', ['4']),
  employee('P3.6', 'by placeholder', '__GlobalStamp > :1', [], [1_000_000]),
  {
    spec: 'P1.6',
    name: 'an order by the key',
    get: '/Employee?$orderby=__KEY desc&$top=2',
    keys: ['6', '5'],
  },
  {
    spec: 'P1.6',
    name: 'an order by members that every entity has',
    get: '/Employee?$filter="order by __STAMP, __TIMESTAMP, __KEY desc"&$top=2&$skip=4',
    keys: ['2', '1'],
  },
  {
    spec: '2.5',
    name: 'Class:__KEY(value) is an entity',
    get: '/Employee:__KEY(4)',
    has: { lastName: 'Hopper' },
  },
  // Order in the text
  employee('P2.13', 'order by in the text', 'woman = true order by lastName desc', ['6', '1', '4']),
  { spec: 'P2.13', name: 'order by alone', get: '/City?$filter="order by population desc"&$top=1', keys: ['東京'] },
  // As clients send it
  { spec: 'P1.2', name: 'single quotes around the value', get: `/Employee?$filter='lastName=Hopper'`, keys: ['4'] },
  { spec: 'P1.2', name: 'no quotes around the value', get: '/Employee?$filter=ID=4', keys: ['4'] },
  { spec: 'P1.2', name: 'quotes of the other kind inside', get: `/Employee?$filter="lastName='h@'"`, keys: ['4'] },
  { spec: 'P1.2', name: 'encoded quotes', get: '/Employee?$filter=%22lastName=%27h@%27%22', keys: ['4'] },
  {
    spec: 'P1.3',
    name: '$params without quotes',
    get: `/Employee?$filter="lastName=:1"&$params=["hopper"]`,
    keys: ['4'],
  },
  {
    spec: 'P1.3',
    name: '$params with unquoted names',
    get: `/Employee?$filter="lastName=:who"&$params='{parameters:{who:"hopper"}}'`,
    keys: ['4'],
  },
  {
    spec: '4.3.1',
    name: 'a quote as a JSON escape in $params',
    get: `/Employee?$filter="lastName=:1"&$params='["O%5Cu0027Reilly"]'`,
    keys: ['3'],
  },
  {
    spec: 'D2',
    name: '+ in $params is a blank',
    get: `/City?$filter="name=:1"&$params='["New+York+(NY)"]'`,
    keys: ['New York (NY)'],
  },
  {
    spec: 'P1.2',
    name: '+ in $filter is a blank where it cannot be read otherwise, as forms and URLSearchParams send it',
    get: `/Employee?${new URLSearchParams({ $filter: `"lastName = 'Hopper' or ID = 2"`, $orderby: 'salary desc, ID' })}`,
    keys: ['4', '2'],
  },
  {
    spec: 'P1.2',
    name: 'an encoded plus next to it stays a plus',
    get: `/Employee?${new URLSearchParams({ $filter: `notes = '@+@' or ID = 4` })}`,
    keys: ['4'],
  },
  {
    spec: 'P1.2',
    name: 'blanks inside texts are then blanks, too',
    get: `/City?${new URLSearchParams({ $filter: `name = 'New York (NY)'` })}`,
    keys: ['New York (NY)'],
  },
  {
    spec: 'P1.2',
    name: 'where the text can be read as written, + stays a plus',
    get: "/Employee?$filter=notes='@+@'|ID=4",
    keys: ['4'],
  },
  {
    spec: 'P1.6',
    name: '+ in $orderby is a blank',
    get: '/Employee?$orderby=salary+desc,+lastName+asc&$top=2',
    keys: ['4', '1'],
  },
  {
    spec: '4.4',
    name: '+ in $subOrderby is a blank',
    get: '/Company(1)/staff?$expand=staff&$method=subentityset&$subOrderby=salary+asc',
    keys: ['2', '1'],
  },
  {
    spec: 'P1.2',
    name: '+ in the body of $query is a plus',
    post: '/Employee/$query',
    body: { $filter: 'salary=+45000' },
    keys: ['2', '3'],
  },
  {
    spec: 'P1.2',
    name: 'and is refused where it cannot be read',
    post: '/Employee/$query',
    body: { $filter: 'salary+=+45000' },
    status: 400,
    errors: [1201],
  },
  {
    spec: 'D5',
    name: 'where neither can be read, the message is about the text with blanks',
    get: '/Employee?$filter=lastName+resembles+x',
    status: 400,
    has: {
      __ERROR: [
        {
          errCode: 1112,
          message: /near "resembles x": expected .*comparator.*; each \+ was read as a blank, a plus is sent as %2B$/s,
        },
      ],
    },
  },
  {
    spec: 'D5',
    name: 'the same for an order',
    get: '/Employee?$orderby=salary+downwards',
    status: 400,
    has: { __ERROR: [{ errCode: 1810, message: /near "downwards"/ }] },
  },
  { spec: 'P1.2', name: '+ in $filter is a plus', get: `/Employee?$filter="salary=+45000"`, keys: ['2', '3'] },
  {
    spec: 'P1.2',
    name: 'an & inside quotes does not end the value',
    get: '/Company?$filter="name=\'Empty & Co\'"',
    keys: ['4'],
  },
  { spec: '4.2', name: 'an empty filter is not a condition', get: '/City?$filter=""', count: 4 },
  {
    spec: '4.2',
    name: 'a filter on several keys narrows them',
    get: '/Employee(1,2,3)?$filter="woman=true"',
    keys: ['1'],
  },
])

const refused = (
  spec: string,
  name: string,
  filter: string,
  status: number,
  errors: number[],
  params?: unknown,
): ProtocolCase => ({
  spec,
  name: `${name}: ${filter}`,
  get: `/Employee?$filter="${encodeURIComponent(filter)}"${params === undefined ? '' : `&$params='${encodeURIComponent(JSON.stringify(params))}'`}`,
  status,
  errors,
})

protocolTable('$filter refuses', company, [
  refused('7', 'eval', 'eval(1)', 400, [1278]),
  refused('P2.4', 'eval in a condition', 'ID = 1 and eval(true)', 400, [1278]),
  refused('P2.4', 'a formula', '$(this.ID = 1)', 400, [1278]),
  refused('P2.3', 'an unknown comparator', 'ID resembles 1', 400, [1112]),
  refused('P2.2', 'a missing conjunction', 'lastName = New York', 400, [1112]),
  refused('P1.3', 'a missing placeholder', 'ID = :2', 400, [1279], [1]),
  refused('P1.3', 'null by placeholder', 'ID = :1', 400, [1279], [null]),
  refused('P1.3', 'a name that no object in the array has', 'ID = :x', 400, [1279], [{ fn: 1 }]),
  refused('P1.3', 'a name that objects inherit', 'ID = :toString', 400, [1279], [{ fn: 1 }]),
  refused('P1.3', 'a list where a scalar is needed', 'ID = :1', 400, [1280], [[1, 2]]),
  refused('P1.3', 'a scalar where a list is needed', 'ID in :1', 400, [1280], [1]),
  refused('P5.9', 'an unknown attribute', 'nothing = 1', 404, [1500]),
  refused('1', 'a private attribute like an unknown one', 'secret = hush', 404, [1500]),
  refused('2.5', 'a name that is not a member of an entity', '__KEYS = 1', 404, [1500]),
  refused('2.5', 'a text for a key that is a number', '__KEY = x', 400, [1508]),
  refused('4.3.1', 'digits in groups', 'salary > 1,000,000', 400, [1508]),
  refused('4.3.1', 'digits in groups and in quotes', 'employer.revenues > "1_000_000"', 400, [1508]),
  refused('4.3.1', 'a number with a suffix', 'pay > 1.5M', 400, [1508]),
  refused('4.3.1', 'a number inside a text', 'ID = v20', 400, [1508]),
  refused('4.3.1', 'digits in groups in a placeholder', 'salary > :1', 400, [1280], ['1,000,000']),
  refused('4.3.1', 'digits in groups in a placeholder for a list', 'ID in :1', 400, [1280], [['1,000']]),
  refused('4.3.1', 'digits in groups for a key', '__KEY = 1,000', 400, [1508]),
  refused('4.3.1', 'digits in groups for a relation', 'employer = 1,000', 400, [1508]),
  refused('4.3.1', 'another attribute', 'lastName = firstName', 400, [1508]),
  refused('4.3.1', 'an attribute over a relation', 'lastName = employer.name', 400, [1508]),
  refused('1', 'an unknown attribute of a related dataclass', 'employer.nothing = 1', 404, [1500]),
])

t.test('§D5 an error says where it is, and what is expected', async t => {
  const server = await startServer(t, company)
  const message = async (path: string) => (await server.get(path)).json.__ERROR[0].message as string
  t.match(await message('/Employee?$filter="lastNam=x"'), /lastNam.*did you mean "lastName"/)
  t.match(await message('/Employee?$filter="ID = "'), /character|position/)
  t.match(await message('/Emploee'), /did you mean "Employee"/)
  t.notMatch(await message('/Hiden'), /Hidden/, 'a private name is never suggested')
  t.notMatch(await message('/Employee?$filter="secre=x"'), /secret/, 'a private name is never suggested')
})
