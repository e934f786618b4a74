import { readFileSync, writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { loadWorld } from '../../support/commands/load-world.ts'

/** Related entities that a file names by other attributes than their keys. */

const model = {
  name: 'staff',
  dataClasses: {
    Company: {
      key: 'ID',
      attributes: {
        ID: { type: 'long', autoFill: 'increment' },
        name: { type: 'string', indexed: true },
        code: { type: 'long64', unique: true },
        city: { type: 'string' },
        founded: { type: 'date', simpleDate: true, indexed: true },
      },
    },
    Person: {
      key: 'ID',
      attributes: {
        ID: { type: 'long', autoFill: 'increment' },
        name: { type: 'string', unique: true },
        employerID: { type: 'long' },
        employer: { kind: 'relatedEntity', type: 'Company', foreignKey: 'employerID' },
        bossID: { type: 'long' },
        boss: { kind: 'relatedEntity', type: 'Person', foreignKey: 'bossID' },
      },
    },
  },
}

const COMPANIES = 'name,code,city\nAcme,1,Bern\nGlobex,2,Bern\n"in@tech ""x""",3,\nTwin,4,\nTWIN,5,\n'

async function world(t: Test, files: Record<string, string>) {
  const opened = loadWorld(t, model, { 'companies.csv': COMPANIES, ...files })
  await opened.load('companies.csv', { into: 'Company' })
  return opened
}

t.test(
  'by an attribute with an index: rows without exactly one entity are rejected, and loaded after corrections',
  async t => {
    const people = 'name,Firm\nA,acme\nB,"in@tech ""x"""\nC,\nD,Nowhere\nE,twin\nF,in@tech\n"G\n2", Globex \nH,Acme,\n'
    const { load, people: saved, cwd } = await world(t, { 'people.csv': people })
    const options = { columns: { Firm: 'employer' }, relations: { employer: 'Company.name' } }
    const { text, rejected } = await load('people.csv', options)
    t.match(text, /^8 rows read: 4 inserted, 4 rejected\n/)
    t.match(rejected, [
      {
        line: 5,
        errors: ['employer: no entity of Company has "Nowhere" as name'],
        row: { name: 'D', employer: 'Nowhere' },
      },
      { line: 6, errors: ['employer: more than one entity of Company has "twin" as name'], row: { employer: 'twin' } },
      { line: 7, errors: ['employer: no entity of Company has "in@tech" as name'] },
      { line: 10, errors: ['3 fields for 2 columns'] },
    ])
    const corrected = readFileSync(`${cwd}/errors.ndjson`, 'utf8').split('\n')[0]!.replaceAll('Nowhere', 'Globex')
    writeFileSync(`${cwd}/again.ndjson`, `${corrected}\n{"name":"I","employer":"Acme"}\n{"name":"J","employer":null}\n`)
    t.match((await load('again.ndjson', options)).text, /^3 rows read: 3 inserted/)
    t.match(await saved(), [
      { name: 'A', employerID: 1 },
      { name: 'B', employerID: 3 },
      { name: 'C', employerID: null },
      { name: 'G\n2', employerID: 2 },
      { name: 'D', employerID: 2 },
      { name: 'I', employerID: 1 },
      { name: 'J', employerID: null },
    ])
  },
)

t.test('by numbers, and by rows further down of the same dataclass', async t => {
  const people = 'name;employer;boss\nA;1;C\nB;3;A\nC;9;\nD;x;\nE;;Z\nF;2;\n'
  const { load, people: saved } = await world(t, { 'people.csv': people })
  const { rejected } = await load('people.csv', { relations: { employer: 'Company.code', boss: 'Person.name' } })
  t.match(rejected.map(({ line, errors }: { line: number; errors: string[] }) => [line, errors[0]]).sort(), [
    [2, /boss: no entity of Person has "C"/],
    [3, /boss: no entity of Person has "A"/],
    [4, /employer: no entity of Company has "9" as code/],
    [5, /employer: a value of code is/],
    [6, /boss: no entity of Person has "Z"/],
  ])
  t.match(await saved(), [{ name: 'F', employerID: 2 }])
  const chain = await world(t, { 'chain.csv': 'name,boss\nA,B\nB,C\nC,\n' })
  t.match(await chain.load('chain.csv', { relations: { boss: 'Person.name' } }), { text: '3 rows read: 3 inserted\n' })
  const keys = new Map((await chain.people()).map(({ ID, name, bossID }) => [name, { ID, bossID }]))
  t.equal(keys.get('A')!.bossID, keys.get('B')!.ID)
  t.equal(keys.get('B')!.bossID, keys.get('C')!.ID)
})

t.test('a value that cannot be read as the attribute of the related entity affects its row alone', async t => {
  const { load, people } = await world(t, { 'people.csv': 'name,employer\nA,1.2.24\nB,\n' })
  const { text, rejected } = await load('people.csv', { relations: { employer: 'Company.founded' } })
  t.match(text, /^2 rows read: 1 inserted, 1 rejected\n/)
  t.match(rejected, [{ line: 2, errors: [/^employer: founded: the year of "1\.2\.24" has fewer than four digits/] }])
  t.match(await people(), [{ name: 'B' }])
})

t.test('the name of a relation may be that of its column, as the header has it', async t => {
  const cases = [
    ['name,Employer', {}, { Employer: 'Company.name' }],
    ['name,Die Firma', { 'Die Firma': 'employer' }, { 'Die Firma': 'Company.name' }],
    ['name,Die Firma', { 'Die Firma': 'employer' }, { employer: 'Company.name' }],
  ] as const
  for (const [header, columns, relations] of cases) {
    await t.test(`${header} ${JSON.stringify(relations)}`, async t => {
      const { load, people } = await world(t, { 'people.csv': `${header}\nA,Acme\n` })
      t.match(await load('people.csv', { columns, relations }), { text: '1 row read: 1 inserted\n' })
      t.match(await people(), [{ name: 'A', employerID: 1 }])
    })
  }
  const { load, config, entities } = await world(t, { 'orders.csv': 'Nr;Kunde (Firma)\n1;Acme\n2;Globex\n' })
  for (const [newClass, columns, relations] of [
    ['Order', undefined, { 'Kunde (Firma)': 'Company.name' }],
    ['Bill', { 'Kunde (Firma)': 'kunde' }, { 'Kunde (Firma)': 'Company.name' }],
  ] as const) {
    const given = { columns, relations }
    t.match((await load('orders.csv', { create: { newClass, yes: true, ...given }, ...given })).text, /2 inserted/)
  }
  t.match(await entities('Order'), [{ kundeFirmaID: 1 }, { kundeFirmaID: 2 }])
  t.match(await entities('Bill'), [{ kundeID: 1 }, { kundeID: 2 }])
  t.match(JSON.parse(readFileSync(config.model, 'utf8')).dataClasses.Bill.attributes, { kunde: { type: 'Company' } })
})

t.test('refused', async t => {
  const { load } = await world(t, { 'people.csv': 'name,employer\nA,Acme\n' })
  const cases = [
    [{ emploer: 'Company.name' }, /^emploer is not a relation to one of Person; did you mean "employer"/],
    [{ name: 'Company.name' }, /^name is not a relation to one of Person/],
    [
      { employer: 'Person.name' },
      /^employer leads to Company, so it is looked up by Company\.attribute, not by "Person\.name"/,
    ],
    [
      { employer: 'Company.city' },
      /^Company cannot be looked up by "city": it is not an attribute with an index; there are ID, name, code/,
    ],
    [{ employer: 'Company' }, /^Company cannot be looked up by ""/],
    [{ boss: 'Person.name' }, /^no column is the relation boss: --column 'NAME=boss' says which one/],
  ] as const
  for (const [relations, message] of cases) await t.rejects(load('people.csv', { relations }), { message })
})

t.test('a new dataclass with a relation', async t => {
  const { load, config, entities } = await world(t, { 'shops.csv': 'Shop,Firm\nA,Acme\nB,Globex\nC,Nowhere\n' })
  const relations = { firm: 'Company.name' }
  const { text, notes } = await load('shops.csv', { create: { newClass: 'Shop', yes: true, relations }, relations })
  t.match(text, /^3 rows read: 2 inserted, 1 rejected/)
  t.match(notes, /Firm +firm +Company +relation/)
  t.match(notes, /Company gets shopSet, the reverse relation to Shop/)
  const { dataClasses } = JSON.parse(readFileSync(config.model, 'utf8'))
  t.match(dataClasses.Shop.attributes, {
    firmID: { type: 'long' },
    firm: { kind: 'relatedEntity', type: 'Company', foreignKey: 'firmID', inverseName: 'shopSet' },
  })
  t.same(dataClasses.Company.attributes.shopSet, {
    kind: 'relatedEntities',
    type: 'ShopSelection',
    inverseName: 'firm',
  })
  t.match(await entities('Shop'), [
    { shop: 'A', firmID: 1 },
    { shop: 'B', firmID: 2 },
  ])
  await t.rejects(load('shops.csv', { create: { newClass: 'S', yes: true, relations: { frm: 'Company.name' } } }), {
    message: /no column becomes the relation "frm"; there are/,
  })
  await t.rejects(load('shops.csv', { create: { newClass: 'S', yes: true, relations: { firm: 'Compny.name' } } }), {
    message: /there is no dataclass "Compny"; did you mean "Company"/,
  })
})

t.test('a relation of a new dataclass to itself', async t => {
  const { config, load, entities } = await world(t, { 'staff.csv': 'code,name,boss\nA,Ada,B\nB,Bo,\nC,Cy,b\nD,Di,X\n' })
  const relations = { boss: 'Staff.code' }
  const { text, rejected } = await load('staff.csv', {
    create: { newClass: 'Staff', yes: true, key: 'code', relations },
    relations,
  })
  t.match(text, /^4 rows read: 3 inserted, 1 rejected/)
  t.match(rejected, [{ line: 5, errors: ['boss: no entity of Staff has "X" as code'] }])
  const file = readFileSync(config.model, 'utf8')
  t.equal(file.split('"staffSet"').length, 3, 'named in the relation, and declared once')
  t.match(JSON.parse(file).dataClasses.Staff.attributes, {
    bossID: { type: 'string' },
    boss: { kind: 'relatedEntity', type: 'Staff', foreignKey: 'bossID', inverseName: 'staffSet' },
    staffSet: { kind: 'relatedEntities', type: 'StaffSelection', inverseName: 'boss' },
  })
  const saved = await entities('Staff')
  t.match(saved.map(({ code, bossID }) => [code, bossID]).sort(), [
    ['A', 'B'],
    ['B', null],
    ['C', 'B'],
  ])
})
