/** Aggregates and distinct values. */
import { company } from '../support/fixtures/company.ts'
import { type ProtocolCase, protocolTable } from '../support/checks/protocol-table.ts'
import { refused } from './compute-cases.ts'

const compute = (spec: string, name: string, path: string, keyword: string, json: unknown): ProtocolCase => ({
  spec,
  name,
  get: `/${path}${path.includes('?') ? '&' : '?'}$compute=${keyword}`,
  json,
})

protocolTable('$compute', company, [
  compute('4.6', 'sum is a bare value', 'Employee/salary/', 'sum', 330_000),
  compute('4.6', 'average leaves nulls out', 'Employee/salary', 'average', 66_000),
  compute('4.6', 'min', 'Employee/salary', 'min', 30_000),
  compute('4.6', 'max', 'Employee/salary', 'max', 120_000),
  compute('4.6', 'count leaves nulls out', 'Employee/salary', 'count', 5),
  compute('4.6', '$all of a number has all functions', 'Employee/salary', '$all', {
    salary: { count: 5, sum: 330_000, average: 66_000, min: 30_000, max: 120_000 },
  }),
  compute('4.6', '$all of a text has neither sum nor average', 'Company/name', '$all', {
    name: { count: 4, min: 'Acme', max: 'zeta' },
  }),
  compute('P6.6', 'all is $all', 'Company/name', 'all', { name: { count: 4, min: 'Acme', max: 'zeta' } }),
  {
    ...compute('4.6', 'the functions are in this order', 'Employee/salary', '$all', undefined),
    text: '{"salary":{"count":5,"sum":330000,"average":66000,"min":30000,"max":120000}}',
  },
  { ...compute('P6.6', 'a text is a JSON text', 'Company/name', 'min', undefined), text: '"Acme"' },
  compute('D2', 'the lowest text is that of its first entity, by fold', 'Employee/firstName', 'min', 'Ada'),
  compute('D2', 'an accent does not put a text last', 'Employee/firstName', 'max', 'Kurt'),
  compute('P6.6', 'a filter narrows what is computed', 'Employee/salary?$filter="woman=true"', 'sum', 240_000),
  compute('P6.6', 'paging and order do not matter', 'Employee/salary?$top=1&$skip=1&$orderby=ID', 'sum', 330_000),
  compute('P6.6', 'one entity is a selection too', 'Employee(1)/salary', 'sum', 90_000),
  compute('P6.6', 'entities by key', 'Employee(1,2)/salary', 'sum', 135_000),
  compute('P6.6', 'several attributes with $all are several keys', 'Employee/salary,ID', '$all', {
    salary: { count: 5, sum: 330_000, average: 66_000, min: 30_000, max: 120_000 },
    ID: { count: 6, sum: 21, average: 3.5, min: 1, max: 6 },
  }),
  compute('P6.6', 'several attributes with one function have a value each', 'Employee/salary,hired', 'max', {
    salary: 120_000,
    hired: '2020-12-24',
  }),
  compute('P6.6', 'count without an attribute counts entities', 'Employee', 'count', 6),
  compute(
    'P6.6',
    'count without an attribute counts the filtered entities',
    'Employee?$filter="salary=45000"',
    'count',
    2,
  ),
  // Types
  compute('P6.6', 'a date-only is the text that is sent', 'Company/founded', 'min', '1985-11-01'),
  compute('P6.6', 'a date-time is the text that is sent', 'Employee/birthDate', 'max', '1985-12-10T08:30:00.000Z'),
  compute('4.6', '$all of a date', 'Company/founded', '$all', {
    founded: { count: 3, min: '1985-11-01', max: '2001-02-28' },
  }),
  compute('D2', 'a duration is milliseconds', 'Employee/dailyWork', 'sum', 32_400_000),
  compute('D2', 'a bool is counted', 'Company/active', 'count', 3),
  compute('D2', '$all of a bool is its count', 'Company/active', '$all', { active: { count: 3 } }),
  compute('4.6', 'an image is counted', 'Employee/photo', 'count', 1),
  compute('4.6', 'a blob is counted', 'Company/contract', 'count', 1),
  compute('4.6', 'an object is counted', 'Company/info', 'count', 3),
  compute('4.6', 'a N→1 relation counts entities that have one', 'Employee/employer', 'count', 5),
  compute('4.6', 'a 1→N relation counts entities that have some', 'Company/staff', 'count', 3),
  compute('4.6', 'a uuid has a lowest', 'Tag/id', 'min', '00000000000000000000000000000001'),
  { ...compute('3.2', 'the sum of a long64 is exact', 'Tag/größe', 'sum', undefined), text: '9223372036854775819' },
  { ...compute('3.2', 'the highest long64 is exact', 'Tag/größe', 'max', undefined), text: '9223372036854775807' },
  compute('D2', 'the sum of numbers does not lose small ones', 'Company/revenues', 'sum', 1_019_995.5),
  // Object properties and paths
  compute('4.6', 'a declared text property', 'Company/info.address.city', '$all', {
    'info.address.city': { count: 2, min: 'Nice', max: 'Paris' },
  }),
  compute('4.6', 'a property without declaration', 'Company/info.tags.length', '$all', {
    'info.tags.length': { count: 2, sum: 2, average: 1, min: 0, max: 2 },
  }),
  compute('4.6', 'a property that no entity has', 'Company/info.nothing', 'count', 0),
  compute('P6.6', 'through a N→1 relation', 'Employee/employer.revenues', 'sum', 2_040_001),
  compute('P6.6', 'a text through a N→1 relation', 'Employee/employer.name', 'max', 'zeta'),
  compute('P6.6', 'a count through a N→1 relation', 'Employee/employer.revenues', 'count', 4),
  compute('P3.9', 'an alias', 'Employee/pay', 'sum', 330_000),
  compute('P3.9', 'an alias through a relation', 'Employee/employerName', 'min', 'Acme'),
  // Distinct
  compute('P6.6', 'countDistinct', 'Employee/salary', 'countDistinct', 4),
  compute('P6.6', 'countDistinct is by fold', 'Employee/firstName', 'countDistinct', 5),
  compute('P6.6', 'countDistinct of a bool', 'Employee/woman', 'countDistinct', 2),
  compute('P6.6', 'sumDistinct', 'Employee/salary', 'sumDistinct', 285_000),
  compute('P6.6', 'averageDistinct', 'Employee/salary', 'averageDistinct', 71_250),
  compute('P6.6', '$distinct=true with sum', 'Employee/salary?$distinct=true', 'sum', 285_000),
  compute('P6.6', '$distinct=true with $all', 'Employee/salary?$distinct=true', '$all', {
    salary: { count: 4, sum: 285_000, average: 71_250, min: 30_000, max: 120_000 },
  }),
  // Empty selections
  compute('P6.6', 'the count of nothing is 0', 'Employee/salary?$filter="ID=0"', 'count', 0),
  compute('P6.6', 'the sum of nothing is 0', 'Employee/salary?$filter="ID=0"', 'sum', 0),
  compute('P6.6', 'the average of nothing is null', 'Employee/salary?$filter="ID=0"', 'average', null),
  compute('P6.6', '$all of nothing', 'Employee/salary?$filter="ID=0"', '$all', {
    salary: { count: 0, sum: 0, average: null, min: null, max: null },
  }),
  compute('P6.6', '$all of null alone', 'Employee/notes?$filter="ID=2"', '$all', {
    notes: { count: 0, min: null, max: null },
  }),
  // Refused
  refused('P5.9', 'an unknown keyword', '/Employee/salary?$compute=median', 400, [1817]),
  refused('P5.9', 'an empty keyword', '/Employee/salary?$compute=', 400, [1817]),
  refused('P5.9', 'a keyword that an object would have', '/Employee/salary?$compute=constructor', 400, [1817]),
  refused('P5.9', 'no attribute', '/Employee?$compute=sum', 400, [1816]),
  refused('P5.9', 'no attribute with $all', '/Employee?$compute=$all', 400, [1816]),
  refused('D2', 'the sum of a text', '/Employee/lastName?$compute=sum', 400, [1817]),
  refused('D2', 'the average of a date', '/Employee/hired?$compute=average', 400, [1817]),
  refused('D2', 'the sum of a declared text property', '/Company/info.address.city?$compute=sum', 400, [1817]),
  refused('D2', 'the lowest bool', '/Employee/woman?$compute=min', 400, [1817]),
  refused('D2', 'different images', '/Employee/photo?$compute=countDistinct', 400, [1817]),
  refused('P6.6', 'a path over a 1→N relation', '/Company/staff.salary?$compute=sum', 400, [1817]),
  refused('P3.8', 'a calculated attribute', '/Employee/fullName?$compute=count', 400, [1817]),
  refused('P1.10', 'an unknown attribute', '/Employee/salry?$compute=sum', 404, [1500, 1804]),
  refused('P1.10', 'a private attribute', '/Employee/secret?$compute=count', 404, [1500, 1804]),
  refused('P1.10', 'a name that an object would have', '/Employee/__proto__?$compute=count', 404, [1500, 1804]),
  refused('P5.9', 'an unknown dataclass', '/Employe/salary?$compute=sum', 404, [1800]),
])

const distinct = (spec: string, name: string, path: string, json: unknown): ProtocolCase => ({
  spec,
  name,
  get: `/${path}${path.includes('?') ? '&' : '?'}$distinct=true`,
  json,
})

protocolTable('$distinct', company, [
  distinct('P6.7', 'texts ascend, by fold', 'Company/name', ['Acme', 'Éclair', 'Empty & Co', 'zeta']),
  distinct('P6.7', 'a filter narrows', 'Company/name?$filter="name=e@"', ['Éclair', 'Empty & Co']),
  distinct('P6.7', 'the first spelling is shown', 'Employee/firstName', ['Ada', 'Alan', 'Émile', 'Grace', 'Kurt']),
  distinct('P6.7', 'numbers ascend, null is left out', 'Employee/salary', [30_000, 45_000, 90_000, 120_000]),
  distinct(
    'P6.7',
    'the requested order does not matter',
    'Employee/salary?$orderby="salary desc"',
    [30_000, 45_000, 90_000, 120_000],
  ),
  distinct('P6.7', '$top and $skip page the array', 'Employee/salary?$skip=1&$top=2', [45_000, 90_000]),
  distinct('P6.7', '$skip alone', 'Employee/salary?$skip=3', [120_000]),
  distinct('P6.7', '$top=0 is none', 'Employee/salary?$top=0', []),
  distinct('P6.7', '$skip past the end is none', 'Employee/salary?$skip=9&$top=2', []),
  distinct('P6.7', 'dates as they are sent', 'Employee/hired?$filter="hired<2012-12-31"', [
    '2005-03-01',
    '2010-01-04',
    '2012-06-15',
  ]),
  distinct('P6.7', 'bools as they are sent', 'Employee/woman', [false, true]),
  distinct('P6.7', 'an object property', 'Company/info.address.city', ['Nice', 'Paris']),
  distinct('P6.7', 'through a N→1 relation', 'Employee/employer.name', ['Acme', 'Éclair', 'zeta']),
  distinct('P6.7', 'an alias', 'Employee/employerName', ['Acme', 'Éclair', 'zeta']),
  distinct('P6.7', 'the first scalar attribute of a list counts', 'Employee/photo,woman,salary', [false, true]),
  distinct('P6.7', 'of nothing', 'Employee/salary?$filter="ID=0"', []),
  distinct('4.6', '$counts has the most frequent first', 'Employee/salary?$counts=true', [
    { value: 45_000, count: 2 },
    { value: 30_000, count: 1 },
    { value: 90_000, count: 1 },
    { value: 120_000, count: 1 },
  ]),
  distinct(
    '4.6',
    '$counts of texts by fold, through a relation',
    'Employee/employer.name?$counts=true&$top=1&$skip=1',
    [{ value: 'Éclair', count: 2 }],
  ),
  distinct('4.6', '$counts after a filter', 'Employee/woman?$counts=true&$filter="salary>40000"', [
    { value: false, count: 2 },
    { value: true, count: 2 },
  ]),
  distinct('4.6', '$counts=false is none', 'Employee/woman?$counts=false', [false, true]),
  { spec: '4.6', name: '$counts alone has no effect', get: '/Employee/ID?$counts=true&$top=1', keys: ['1'] },
  {
    spec: '3.2',
    name: 'a long64 is exact',
    get: '/Tag/größe?$distinct=true',
    text: '[12,9223372036854775807]',
  },
  {
    spec: 'P6.7',
    name: '$distinct=false is not a command',
    get: '/Employee/salary?$distinct=false',
    keys: ['1', '2', '3', '4', '5', '6'],
  },
  {
    spec: 'P11',
    name: 'it can be indented',
    get: '/Employee/woman?$distinct=true&$prettyprint=true',
    text: '[\n  false,\n  true\n]',
  },
  refused('P5.9', 'no attribute', '/Employee?$distinct=true', 400, [1816]),
  refused('P5.9', 'no scalar attribute', '/Employee/photo?$distinct=true', 400, [1816]),
  refused('P1.10', 'an unknown attribute', '/Employee/nothing?$distinct=true', 404, [1500, 1804]),
  refused('P1.10', 'a private attribute', '/Employee/secret?$distinct=true', 404, [1500, 1804]),
])
