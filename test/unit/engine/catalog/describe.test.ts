import t from 'tap'
import { describeAll, describeCatalog, describeDataClass } from '../../../../engine/catalog/describe.ts'
import { loadModel } from '../../../../engine/catalog/load-model.ts'
import { publicView } from '../../../../engine/catalog/view.ts'

const catalog = loadModel({
  name: 'test',
  dataClasses: {
    Company: {
      key: 'ID',
      defaultTopSize: 40,
      extraProperties: { colour: 'red' },
      tableNumber: 3,
      attributes: {
        ID: { type: 'long', autoFill: 'increment' },
        name: {
          type: 'string',
          indexed: true,
          unique: true,
          minLength: 1,
          maxLength: 80,
          pattern: '^\\S',
          multiLine: true,
        },
        revenues: {
          type: 'number',
          minValue: 0,
          maxValue: 9,
          defaultFormat: { format: '#0' },
          extraProperties: { a: 1 },
        },
        secret: { type: 'string', scope: 'private' },
        staff: { kind: 'relatedEntities', type: 'Staff', inverseName: 'employer' },
        shadows: { kind: 'relatedEntities', type: 'ShadowSelection', inverseName: 'company' },
      },
    },
    Employee: {
      collectionName: 'Staff',
      key: 'badge',
      attributes: {
        badge: { type: 'uuid', autoFill: 'uuid' },
        born: { type: 'date', simpleDate: true },
        seen: { type: 'date', readOnly: true },
        employerID: { type: 'long' },
        employer: { kind: 'relatedEntity', type: 'Company', foreignKey: 'employerID' },
        companyName: { kind: 'alias', path: 'employer.name' },
        colleagues: { kind: 'alias', path: 'employer.staff' },
        birthday: { kind: 'alias', path: 'born' },
        age: { kind: 'calculated', type: 'long' },
      },
    },
    Shadow: {
      scope: 'private',
      key: 'ID',
      attributes: {
        ID: { type: 'long' },
        companyID: { type: 'long' },
        company: { kind: 'relatedEntity', type: 'Company', foreignKey: 'companyID' },
      },
    },
  },
})
const describe = (name: string) => describeDataClass(catalog.dataClassesByName.get(name)!, publicView(catalog))

t.test('§2.1 the list names public dataclasses only, under both names', async t => {
  const list = [
    { name: 'Company', uri: '/rest/$catalog/Company', dataURI: '/rest/Company' },
    { name: 'Employee', uri: '/rest/$catalog/Employee', dataURI: '/rest/Employee' },
  ]
  t.strictSame(describeCatalog(publicView(catalog)), { dataClass: list, dataClasses: list })
})

t.test('§2.2 and §2.3 a dataclass is described without private attributes and false properties', async t => {
  t.equal(
    JSON.stringify(describe('Company')),
    JSON.stringify({
      name: 'Company',
      className: 'Company',
      collectionName: 'CompanySelection',
      tableNumber: 3,
      scope: 'public',
      dataURI: '/rest/Company',
      defaultTopSize: 40,
      extraProperties: { colour: 'red' },
      attributes: [
        {
          name: 'ID',
          kind: 'storage',
          fieldPos: 1,
          scope: 'public',
          indexed: true,
          type: 'long',
          identifying: true,
          unique: true,
          autosequence: true,
        },
        {
          name: 'name',
          kind: 'storage',
          fieldPos: 2,
          scope: 'public',
          indexed: true,
          type: 'string',
          unique: true,
          minLength: 1,
          maxLength: 80,
          pattern: '^\\S',
          multiLine: true,
        },
        {
          name: 'revenues',
          kind: 'storage',
          fieldPos: 3,
          scope: 'public',
          type: 'number',
          minValue: 0,
          maxValue: 9,
          defaultFormat: { format: '#0' },
          extraProperties: { a: 1 },
        },
        {
          name: 'staff',
          kind: 'relatedEntities',
          scope: 'public',
          type: 'Staff',
          path: 'employer',
          inverseName: 'employer',
          reversePath: true,
        },
      ],
      key: [{ name: 'ID' }],
    }),
  )
})

t.test('§2.3 relations, aliases, dates and calculated attributes have their own properties', async t => {
  t.strictSame((describe('Employee') as { attributes: object[] }).attributes.slice(1), [
    { name: 'born', kind: 'storage', fieldPos: 2, scope: 'public', type: 'date', simpleDate: true },
    { name: 'seen', kind: 'storage', fieldPos: 3, scope: 'public', type: 'date', simpleDate: false, readOnly: true },
    { name: 'employerID', kind: 'storage', fieldPos: 4, scope: 'public', indexed: true, type: 'long' },
    {
      name: 'employer',
      kind: 'relatedEntity',
      scope: 'public',
      type: 'Company',
      path: 'Company',
      foreignKey: 'employerID',
      inverseName: 'staff',
    },
    { name: 'companyName', kind: 'alias', scope: 'public', type: 'string', path: 'employer.name', readOnly: true },
    { name: 'colleagues', kind: 'alias', scope: 'public', type: 'Staff', path: 'employer.staff', readOnly: true },
    { name: 'birthday', kind: 'alias', scope: 'public', type: 'date', simpleDate: true, path: 'born', readOnly: true },
    { name: 'age', kind: 'calculated', scope: 'public', type: 'long', readOnly: true },
  ])
})

t.test('§2.2 the list of all descriptions leaves page size and extra properties to the single one', async t => {
  const { dataClasses } = describeAll(publicView(catalog))
  t.equal(dataClasses.length, 2)
  t.notOk('defaultTopSize' in dataClasses[0]! || 'extraProperties' in dataClasses[0]!)
})
