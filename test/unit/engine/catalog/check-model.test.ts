import t from 'tap'
import { loadModel } from '../../../../engine/catalog/load-model.ts'
import type { ModelError } from '../../../../engine/catalog/model-error.ts'

const company = {
  key: 'ID',
  attributes: {
    ID: { type: 'long', autoFill: 'increment' },
    name: { type: 'string', indexed: true },
    secret: { type: 'long', scope: 'private' },
    info: { type: 'object' },
    staff: { kind: 'relatedEntities', type: 'EmployeeSelection', inverseName: 'employer' },
  },
}
const employee = {
  key: 'ID',
  attributes: {
    ID: { type: 'long' },
    name: { type: 'string' },
    employerID: { type: 'long' },
    employer: { kind: 'relatedEntity', type: 'Company', foreignKey: 'employerID', inverseName: 'staff' },
    employerName: { kind: 'alias', path: 'employer.name' },
  },
}
type Options = Record<string, unknown>
const model = (dataClasses: Options): Options => ({ name: 'test', dataClasses })
const withCompany = (options: Options, attributes: Options = {}): Options =>
  model({
    Company: { ...company, ...options, attributes: { ...company.attributes, ...attributes } },
    Employee: employee,
  })
const withEmployee = (attributes: Options): Options =>
  model({ Company: company, Employee: { ...employee, attributes: { ...employee.attributes, ...attributes } } })
const onCompany = (attribute: Options): Options => withCompany({}, { x: attribute })
const at = 'dataClasses.Company.attributes.x'
const atEmployee = 'dataClasses.Employee.attributes'

t.test('the model that the cases vary has no problem', async t => {
  t.equal(loadModel(withCompany({})).dataClasses.length, 2)
})

t.test('a former name may be that of an existing attribute: the renaming is done', async t => {
  t.equal(loadModel(onCompany({ type: 'long', formerName: 'name' })).dataClasses.length, 2)
})

const owned = (attributes: Options, options: Options = {}): Options =>
  withCompany({ storage: { postgres: 'main', owned: true, ...options } }, attributes)

/** @param unique lists of the dataclass Company */
const together = (unique: unknown, attributes: Options = {}, options: Options = {}) =>
  withCompany({ unique, ...options }, attributes)
const DEFAULTED =
  'it is for bool, byte, word, long, long64, number, float, decimal, date, duration, string, uuid, object'

const cases: { name: string; model: unknown; problem: string }[] = [
  {
    name: 'one attribute that is unique together',
    model: together([['name']]),
    problem: 'dataClasses.Company.unique.0: must NOT have fewer than 2 items, received ["name"]',
  },
  {
    name: 'an unknown attribute that is unique together with another',
    model: together([['name', 'secrte']]),
    problem: 'dataClasses.Company.unique.0: there is no attribute "secrte" in Company; did you mean "secret"?',
  },
  {
    name: 'the key among attributes that are unique together',
    model: together([['ID', 'name']]),
    problem: 'dataClasses.Company.unique.0: "ID" is unique by itself; leave it out',
  },
  {
    name: 'a relation among attributes that are unique together',
    model: together([['name', 'staff']]),
    problem:
      'dataClasses.Company.unique.0: "staff" is a relatedEntities attribute; only values that are stored can be unique together',
  },
  {
    name: 'an object among attributes that are unique together',
    model: together([['name', 'info']]),
    problem:
      'dataClasses.Company.unique.0: "info" has type object; unique values have one of bool, byte, word, long, long64, number, float, decimal, date, duration, string, uuid',
  },
  {
    name: 'a calculated attribute that is not stored, unique together with another',
    model: together([['name', 'x']], { x: { kind: 'calculated', type: 'long' } }),
    problem: 'dataClasses.Company.unique.0: "x" is calculated at each read; add "stored": true to it',
  },
  {
    name: 'attributes that are unique together twice',
    model: together([
      ['name', 'secret'],
      ['secret', 'name'],
    ]),
    problem: 'dataClasses.Company.unique.1: has the attributes of dataClasses.Company.unique.0; leave one of them out',
  },
  {
    name: 'an attribute twice in a list of those that are unique together',
    model: together([['name', 'name']]),
    problem: 'dataClasses.Company.unique.0: "name" is in it twice',
  },
  {
    name: 'attributes of an attached table that are unique together',
    model: together([['name', 'secret']], {}, { storage: { postgres: 'main' } }),
    problem:
      'dataClasses.Company.unique: the table of Company is as others made it, and its database keeps values unique',
  },
  {
    name: 'a key of several columns in a table that the server makes',
    model: model({
      Company: {
        storage: { postgres: 'main', owned: true },
        key: 'ID',
        attributes: { ID: { type: 'string', column: ['a', 'b'] } },
      },
    }),
    problem:
      'dataClasses.Company.attributes.ID.column: several columns are for tables that exist; the key of an owned table is one column',
  },
  {
    name: 'a column of two attributes in a table that the server makes',
    model: owned({ x: { type: 'string', column: 'name' } }),
    problem: `${at}.column: "name" is also the column of name; name another one`,
  },
  {
    name: 'a stored calculated attribute in a table that the server makes',
    model: owned({ x: { kind: 'calculated', type: 'string', stored: true } }),
    problem: `${at}.stored: is not for a table of a database; without "stored" it is calculated at each read`,
  },
  {
    name: 'a column with a name that a database would cut',
    model: owned({ x: { type: 'string', column: 'é'.repeat(32) } }),
    problem: `${at}.column: "${'é'.repeat(32)}" has 64 bytes; a database keeps 63, so give a shorter name`,
  },
  {
    name: 'a stamp that is not a number',
    model: owned({}, { stamp: 'name' }),
    problem: 'dataClasses.Company.storage.stamp: "name" has type string; a stamp has type long or long64',
  },
  {
    name: 'a timestamp that is a day',
    model: owned({ x: { type: 'date', simpleDate: true } }, { timestamp: 'x' }),
    problem: 'dataClasses.Company.storage.timestamp: "x" is not a date with a time of day',
  },
  {
    name: 'a table of two dataclasses that the server makes',
    model: model({
      Company: { ...company, storage: { postgres: 'main', owned: true } },
      Employee: { ...employee, storage: { postgres: 'main', table: 'Company', owned: true } },
    }),
    problem: 'dataClasses.Employee.storage.table: "Company" is also the table of Company; name another one',
  },
  { name: 'a file that is not an object', model: 7, problem: 'the file: expected an object, received 7' },
  { name: 'a file that is null', model: null, problem: 'the file: expected an object, received null' },
  { name: 'a model without name', model: { dataClasses: {} }, problem: 'the file: "name" is missing' },
  {
    name: 'an unknown option of the file',
    model: { ...model({}), dataClases: {} },
    problem: 'dataClases: there is no such option; did you mean "dataClasses"?',
  },
  {
    name: 'a dataclass that is not an object',
    model: model({ Company: [] }),
    problem: 'dataClasses.Company: expected an object, received []',
  },
  {
    name: 'one former name for two attributes',
    model: withCompany({}, { x: { type: 'long', formerName: 'old' }, y: { type: 'long', formerName: 'old' } }),
    problem: 'dataClasses.Company.attributes.y.formerName: "old" is also that of x; leave one of them out',
  },
  {
    name: 'a dataclass without key',
    model: model({ X: { attributes: {} } }),
    problem: 'dataClasses.X: "key" is missing',
  },
  {
    name: 'an unknown option of a dataclass',
    model: withCompany({ defaultTopsize: 3 }),
    problem: 'dataClasses.Company.defaultTopsize: there is no such option; did you mean "defaultTopSize"?',
  },
  {
    name: 'an attribute that is not an object',
    model: withCompany({}, { x: 'string' }),
    problem: `${at}: expected an object, received "string"`,
  },
  {
    name: 'an unknown option of an attribute',
    model: onCompany({ type: 'string', maxLenght: 3 }),
    problem: `${at}.maxLenght: there is no such option; did you mean "maxLength"?`,
  },
  {
    name: 'an unknown type',
    model: onCompany({ type: 'integer' }),
    problem: `${at}.type: "integer" is none of bool, byte, word, long, long64, number, float, decimal, date, duration, string, uuid, object, image, blob`,
  },
  ...['date', 'uuid', 'long64', 'decimal'].map(type => ({
    name: `a property of an object that is a ${type}, which JSON has not`,
    model: onCompany({ type: 'object', properties: { 'a.b': { type } } }),
    problem: `${at}.properties.a.b.type: "${type}" is none of bool, byte, word, long, number, float, duration, string${type === 'long64' ? '; did you mean "long"?' : ''}`,
  })),
  {
    name: 'an unknown kind',
    model: onCompany({ kind: 'relatedEntitys', type: 'X' }),
    problem: `${at}.kind: "relatedEntitys" is none of storage, relatedEntity, relatedEntities, alias, calculated; did you mean "relatedEntity"?`,
  },
  {
    name: 'a kind that is a property of every object',
    model: onCompany({ kind: 'constructor' }),
    problem: `${at}.kind: "constructor" is none of storage, relatedEntity, relatedEntities, alias, calculated`,
  },
  {
    name: 'a length on a number',
    model: onCompany({ type: 'long', minLength: 2 }),
    problem: `${at}.minLength: does not fit type long; it is for string`,
  },
  {
    name: 'a decimal without scale',
    model: onCompany({ type: 'decimal' }),
    problem: `${at}.scale: is missing; a decimal needs the count of its digits after the point`,
  },
  {
    name: 'scale on a number',
    model: onCompany({ type: 'number', scale: 2 }),
    problem: `${at}.scale: does not fit type number; it is for decimal`,
  },
  {
    name: 'a calculated decimal without scale',
    model: onCompany({ kind: 'calculated', type: 'decimal' }),
    problem: `${at}.scale: is missing; a decimal needs the count of its digits after the point`,
  },
  {
    name: 'simpleDate on a string',
    model: onCompany({ type: 'string', simpleDate: true }),
    problem: `${at}.simpleDate: does not fit type string; it is for date`,
  },
  {
    name: 'an index on an object',
    model: onCompany({ type: 'object', indexed: true }),
    problem: `${at}.indexed: does not fit type object; it is for bool, byte, word, long, long64, number, float, decimal, date, duration, string, uuid`,
  },
  {
    name: 'a uuid made for a number',
    model: onCompany({ type: 'long', autoFill: 'uuid' }),
    problem: `${at}.autoFill: "uuid" does not fit type long; it is for string, uuid`,
  },
  {
    name: 'a time made for a text',
    model: onCompany({ type: 'string', autoFill: 'now' }),
    problem: `${at}.autoFill: "now" does not fit type string; it is for date`,
  },
  ...(
    [
      ['of an image', { type: 'image', default: false }, `does not fit type image; ${DEFAULTED}`],
      ['of a vector', { type: 'vector', dimension: 1, default: [1] }, `does not fit type vector; ${DEFAULTED}`],
      [
        'beside an automatic value',
        { type: 'date', autoFill: 'now', default: '2020-01-01' },
        'new entities have the value of "autoFill": "now"; leave one of them out',
      ],
      [
        'of a unique attribute',
        { type: 'string', unique: true, default: 'a' },
        '"x" is unique, so that two new entities cannot both have it; leave it out',
      ],
      ['of null', { type: 'bool', default: null }, 'is null, as without it; leave it out, or give a value'],
      ['of another type', { type: 'bool', default: 'no' }, 'expected true or false, received "no"'],
      [
        'that is no day',
        { type: 'date', simpleDate: true, default: '2020-02-30' },
        'expected a date such as "2020-01-31" or "31!1!2020", received "2020-02-30"',
      ],
      [
        'that is no time',
        { type: 'duration', default: 'long' },
        'expected a number of milliseconds or a text such as "08:30:00", received "long"',
      ],
      [
        'that is not whole',
        { type: 'word', default: 1.5 },
        'expected a whole number from -32768 to 32767, received 1.5',
      ],
      [
        'with too many places',
        { type: 'decimal', scale: 1, default: 0.25 },
        'expected a decimal number of at most 17 digits before the point and 1 after it, received 0.25',
      ],
      ['that is not an object', { type: 'object', default: 'a' }, 'expected an object or an array, received "a"'],
      ['below the minimum', { type: 'long', minValue: 1, default: 0 }, '0 is below minValue, which is 1'],
      [
        'above the maximum',
        { type: 'decimal', scale: 1, maxValue: 1, default: 1.1 },
        '1.1 is above maxValue, which is 1',
      ],
      [
        'that is too short',
        { type: 'string', minLength: 2, default: 'a' },
        '"a" is shorter than minLength, which is 2',
      ],
      [
        'that is too long',
        { type: 'string', maxLength: 2, default: 'abc' },
        '"abc" is longer than maxLength, which is 2',
      ],
      [
        'against the pattern',
        { type: 'string', pattern: '[A-Z]', default: 'a' },
        '"a" does not match pattern, which is [A-Z]',
      ],
    ] as const
  ).map(([what, attribute, problem]) => ({
    name: `a default ${what}`,
    model: onCompany(attribute),
    problem: `${at}.default: ${problem}`,
  })),
  {
    name: 'a default of the key',
    model: model({ X: { key: 'ID', attributes: { ID: { type: 'long', default: 1 } } } }),
    problem:
      'dataClasses.X.attributes.ID.default: "ID" is unique, so that two new entities cannot both have it; leave it out',
  },
  {
    name: 'two counters',
    model: onCompany({ type: 'long', autoFill: 'increment' }),
    problem: 'dataClasses.Company: ID and x have "autoFill": "increment"; one counter for each dataclass',
  },
  {
    name: 'a minimum above the maximum',
    model: onCompany({ type: 'long', minValue: 3, maxValue: 2 }),
    problem: `${at}.minValue: 3 is above maxValue, which is 2`,
  },
  {
    name: 'a minimum length above the maximum',
    model: onCompany({ type: 'string', minLength: 3, maxLength: 2 }),
    problem: `${at}.minLength: 3 is above maxLength, which is 2`,
  },
  {
    name: 'a pattern with look-ahead',
    model: onCompany({ type: 'string', pattern: '^(?=a)' }),
    problem: `${at}.pattern: is not an RE2 expression (no look-around, no back-references): error parsing regexp: invalid or unsupported Perl syntax: \`(?=\``,
  },
  {
    name: 'a key that is missing',
    model: withCompany({ key: 'Id' }),
    problem: 'dataClasses.Company.key: there is no attribute "Id" in Company; did you mean "ID"?',
  },
  {
    name: 'a key that is an object',
    model: withCompany({ key: 'info' }),
    problem:
      'dataClasses.Company.key: "info" has type object; a key has one of bool, byte, word, long, long64, number, float, decimal, date, duration, string, uuid',
  },
  {
    name: 'a key that is a relation',
    model: withCompany({ key: 'staff' }),
    problem: 'dataClasses.Company.key: "staff" is a relatedEntities attribute; a key is a storage attribute',
  },
  {
    name: 'a private key of a public dataclass',
    model: withCompany({ key: 'secret' }),
    problem:
      'dataClasses.Company.key: "secret" is private, but every answer names an entity by its key; make it public',
  },
  {
    name: 'a name with a blank',
    model: withCompany({}, { 'last name': { type: 'string' } }),
    problem:
      'dataClasses.Company.attributes.last name: the name may have letters, digits and "_" only, and starts with a letter or "_"',
  },
  {
    name: 'a reserved name',
    model: withCompany({}, { __KEY: { type: 'string' } }),
    problem: 'dataClasses.Company.attributes.__KEY: the name starts with "__", which is reserved for the protocol',
  },
  {
    name: 'a name that is a word of the query language',
    model: withCompany({}, { Not: { type: 'bool' } }),
    problem: 'dataClasses.Company.attributes.Not: the name is a word of the query language',
  },
  {
    name: 'an accented name with a separate accent',
    model: withCompany({}, { 'pre\u0301nom': { type: 'string' } }),
    problem: 'dataClasses.Company.attributes.pre\u0301nom: the name is not in Unicode normalization form C',
  },
  {
    name: 'a collection name that is taken',
    model: withCompany({ collectionName: 'Employee' }),
    problem:
      'dataClasses.Company.collectionName: "Employee" also names dataClasses.Employee; every name must be different',
  },
  {
    name: 'two dataclasses with one table number',
    model: model({ Company: { ...company, tableNumber: 4 }, Employee: { ...employee, tableNumber: 4 } }),
    problem: 'dataClasses.Employee.tableNumber: 4 is also that of dataClasses.Company; leave one of them out',
  },
  {
    name: 'a relation to an unknown dataclass',
    model: withEmployee({ boss: { kind: 'relatedEntity', type: 'Employe', foreignKey: 'ID' } }),
    problem: `${atEmployee}.boss.type: there is no dataclass "Employe"; did you mean "Employee"?`,
  },
  {
    name: 'an unknown foreign key',
    model: withEmployee({ other: { kind: 'relatedEntity', type: 'Company', foreignKey: 'otherID' } }),
    problem: `${atEmployee}.other.foreignKey: there is no attribute "otherID" in Employee`,
  },
  {
    name: 'a foreign key of another type than the key',
    model: withEmployee({ other: { kind: 'relatedEntity', type: 'Company', foreignKey: 'name' } }),
    problem: `${atEmployee}.other.foreignKey: "name" has type string, but the key of Company, "ID", has type long`,
  },
  {
    name: 'one foreign key for two relations',
    model: withEmployee({ other: { kind: 'relatedEntity', type: 'Company', foreignKey: 'employerID' } }),
    problem: `${atEmployee}.other.foreignKey: "employerID" already belongs to relation "employer"; each needs one of its own`,
  },
  {
    name: 'setNull of a mandatory foreign key',
    model: withEmployee({
      otherID: { type: 'long', mandatory: true },
      other: { kind: 'relatedEntity', type: 'Company', foreignKey: 'otherID', onDelete: 'setNull' },
    }),
    problem: `${atEmployee}.other.onDelete: "setNull" cannot be done while "otherID" must not be null; use "restrict" or "cascade"`,
  },
  {
    name: 'an inverse that leads elsewhere',
    model: withEmployee({
      otherID: { type: 'long' },
      other: { kind: 'relatedEntity', type: 'Company', foreignKey: 'otherID', inverseName: 'staff' },
    }),
    problem: `${atEmployee}.other.inverseName: "staff" of Company reverses "employer" of EmployeeSelection, not "other" of Employee`,
  },
  {
    name: 'a 1→N relation that reverses nothing',
    model: onCompany({ kind: 'relatedEntities', type: 'EmployeeSelection', inverseName: 'employr' }),
    problem: `${at}.inverseName: there is no attribute "employr" in Employee; did you mean "employer"?`,
  },
  {
    name: 'a 1→N relation that reverses one with another inverse',
    model: onCompany({ kind: 'relatedEntities', type: 'Employee', inverseName: 'employer' }),
    problem: `${at}.inverseName: "employer" of Employee names "staff" as its inverse, not "x"`,
  },
  {
    name: 'a 1→N relation to an unknown collection',
    model: onCompany({ kind: 'relatedEntities', type: 'Employees', inverseName: 'employer' }),
    problem: `${at}.type: there is no collection "Employees"`,
  },
  {
    name: 'an alias that leads nowhere',
    model: withEmployee({ x: { kind: 'alias', path: 'employer.nam' } }),
    problem: `${atEmployee}.x.path: there is no attribute "nam" in Company; did you mean "name"?`,
  },
  {
    name: 'an alias that continues after a value',
    model: withEmployee({ x: { kind: 'alias', path: 'employer.info.city' } }),
    problem: `${atEmployee}.x.path: "employer.info.city" continues after a storage attribute; only relations can be followed`,
  },
  {
    name: 'an alias of itself',
    model: withEmployee({ x: { kind: 'alias', path: 'x' } }),
    problem: `${atEmployee}.x.path: leads in a circle: Employee.x → Employee.x`,
  },
  {
    name: 'an alias for many values',
    model: onCompany({ kind: 'alias', path: 'staff.name' }),
    problem: `${at}.path: "staff.name" has many values for one entity; through relatedEntities an alias can only name a relation`,
  },
]
for (const { name, model, problem } of cases) {
  t.test(`${name} is refused`, async t => {
    t.throws(() => loadModel(model), { name: 'ModelError', problems: [problem] })
    t.equal(problemsOf(model).length, 1, problemsOf(model).join('\n'))
  })
}

t.test('all problems of a model are reported at once, except mere consequences of others', async t => {
  const problems = problemsOf(
    model({
      Company: {
        ...company,
        attributes: { ...company.attributes, name: { type: 'text' }, x: { type: 'long', pattern: '(' } },
      },
      Employee: { ...employee, key: 'id' },
    }),
  )
  t.match(problems, [
    /Company\.attributes\.name\.type/,
    /Company.*x\.pattern: does not fit/,
    /x\.pattern: is not an RE2/,
    /Employee\.key/,
  ])
  t.equal(problems.length, 4)
})

t.test(
  'aliases of relations through many, names of any script and names that every object has are accepted',
  async t => {
    const catalog = loadModel(
      model({
        Company: {
          ...company,
          attributes: {
            ...company.attributes,
            colleagues: { kind: 'alias', path: 'staff.employer' },
            constructor: { type: 'bool' },
          },
        },
        Employee: {
          ...employee,
          attributes: { ...employee.attributes, 名前: { type: 'string' }, _Größe2: { type: 'long' } },
        },
      }),
    )
    t.equal(catalog.dataClassesByName.get('Company')?.attributesByName.get('constructor')?.kind, 'storage')
  },
)

function problemsOf(model: unknown): readonly string[] {
  try {
    loadModel(model)
    return []
  } catch (error) {
    return (error as ModelError).problems
  }
}
