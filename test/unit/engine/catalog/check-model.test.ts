/** Faults of models: names, kinds, types and options. */
import t from 'tap'
import { loadModel } from '../../../../engine/catalog/load-model.ts'
import { at, company, employee, type Fault, model, onCompany, problemsOf, refuse, withCompany } from './wrong-models.ts'

t.test('the model that the cases vary has no problem', async t => {
  t.equal(loadModel(withCompany({})).dataClasses.length, 2)
})

t.test('a former name may be that of an existing attribute: the renaming is done', async t => {
  t.equal(loadModel(onCompany({ type: 'long', formerName: 'name' })).dataClasses.length, 2)
})

const cases: Fault[] = [
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
]
refuse(cases)

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
