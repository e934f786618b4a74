/** Types of generated clients: programs that compile, and programs that must not. */
import { join } from 'node:path'
import t from 'tap'
import ts from 'typescript'
import type { ClassFunction } from '../../engine/index.ts'
import { writeFunctions } from '../../plugins/client/write-functions.ts'
import { runCompiler } from '../support/commands/author-package.ts'
import { company } from '../support/fixtures/company.ts'
import { writeProject } from '../support/clients/typed-client.ts'
import { clientOf } from './generated-client.ts'

/** The line after each `@ts-expect-error` would compile but for the mistake that the comment names. */
const PROGRAM = `
import { createClient, ConflictError, TesserError, ValidationError, type Entity, type Row, type Model } from './client.ts'

const db = createClient('/rest', { key: async () => 'k', retries: 1 })
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const same = <A, B>(_: Same<A, B>): void => {}
type Head = { readonly __KEY: string; readonly __STAMP: number; readonly __TIMESTAMP: string }

export async function results() {
  const query = db.Employee.query\`salary > \${20_000} and hired < \${new Date()}\`
  const [row] = await query
    .select('lastName', 'employer.name', 'employer.staff.lastName', 'employer.staff.manager.employer.code', 'photo', 'manager')
    .list()
  if (!row) return
  row.lastName satisfies string
  row.__KEY satisfies string
  row.__STAMP satisfies number
  row.employer?.name satisfies string | undefined
  row.employer?.staff.entities[0]?.manager?.employer?.code satisfies string | null | undefined
  row.employer?.staff.count satisfies number | undefined
  row.photo?.url satisfies string | undefined
  row.manager?.__KEY satisfies string | undefined
  // @ts-expect-error not asked for
  row.firstName
  // @ts-expect-error not asked for, two levels deep
  row.employer?.revenues
  // @ts-expect-error not asked for, four levels deep
  row.employer?.staff.entities[0]?.manager?.employer?.name
  // @ts-expect-error may be null
  row.employer.name
  // @ts-expect-error a page and not an array
  row.employer?.staff.map
  // @ts-expect-error a reference has a key alone
  row.manager?.lastName

  const whole = await db.Employee.get(1)
  if (!whole) return
  whole.birthDate satisfies Date | null
  whole.hired satisfies string | null
  whole.dailyWork satisfies number | null
  whole.employerName satisfies string | null
  whole.fullName satisfies string | null
  whole.employer satisfies { readonly __KEY: string } | null
  // @ts-expect-error null unless the model says mandatory
  whole.firstName satisfies string
  // @ts-expect-error a 1→N relation that was not asked for
  whole.directReports
  // @ts-expect-error private
  whole.secret
  const tag = await db.Tag.get('00000000000000000000000000000001')
  tag?.größe satisfies number | bigint | null | undefined
  // @ts-expect-error a bigint, perhaps
  tag!.größe! + 1

  const expanded = await db.Company.query('revenues > :1', 5).expand('staff', 'staff.manager').first()
  expanded?.info.anything
  expanded?.staff.entities[0]?.manager?.lastName satisfies string | undefined
  expanded?.name satisfies string | undefined
  // @ts-expect-error was not expanded
  expanded?.staff.entities[0]?.employer?.name
  const inside = await db.Company.all.select('info.address.city').first()
  inside?.info.address
  const star = await db.Employee.all.select('*', 'employer.*').first()
  star?.employer?.founded satisfies string | null | undefined
  const page = await db.City.all.page()
  page.count satisfies number
  for await (const { name } of db.City.all) name satisfies string
  for await (const { entities } of db.City.all.select('population').pages(10)) entities[0]?.population satisfies number | null | undefined
  same<Entity<'City', 'name'>, Row<Model['City'], 'name'>>(true)
  const entity: Entity<'Employee', 'lastName' | 'employer.name'> | null = await db.Employee.get(1, ['lastName', 'employer.name'])
  entity satisfies ({ lastName: string; employer: ({ name: string } & Head) | null } & Head) | null
}

export async function paths(unknown: string) {
  // @ts-expect-error no such attribute
  db.Employee.all.select('lastNam')
  // @ts-expect-error no such attribute, two levels deep
  db.Employee.all.select('lastName', 'employer.nam')
  // @ts-expect-error no such attribute, four levels deep
  db.Employee.all.select('employer.staff.manager.employer.nam')
  // @ts-expect-error nothing is behind a text
  db.Employee.all.select('lastName.length')
  // @ts-expect-error a 1→N relation without what is wanted of it
  db.Company.all.select('staff')
  // @ts-expect-error private
  db.Employee.all.select('secret')
  // @ts-expect-error not a relation
  db.Employee.all.expand('lastName')
  // @ts-expect-error no such attribute
  db.Employee.all.orderBy('lastNam desc')
  // @ts-expect-error no such direction
  db.Employee.all.orderBy('lastName down')
  db.Employee.all.orderBy('lastName desc', 'employer.name', 'employer.info.address.city asc')
  // @ts-expect-error no such attribute
  db.Employee.get(1, ['lastNam'])
  // @ts-expect-error no such dataclass
  db.Employe
  // @ts-expect-error private
  db.Hidden
  // @ts-expect-error a key of another type
  db.Employee.get(true)
  // @ts-expect-error a path that is not known
  db.Employee.all.select(unknown)
  // @ts-expect-error no such attribute
  await db.Employee.all.sum('salry')
  // @ts-expect-error no value of a filter
  db.Employee.query\`salary > \${undefined}\`
  // @ts-expect-error no value of a filter
  db.Employee.query\`salary > \${() => 1}\`
  db.Employee.query\`employer = \${(await db.Company.get(1))!} or lastName in \${['a', 'b']} or manager = \${null}\`
}

export async function aggregates() {
  ;(await db.Employee.all.sum('salary')) satisfies number
  ;(await db.Employee.all.average('employer.revenues')) satisfies number | null
  ;(await db.Employee.all.max('birthDate')) satisfies Date | null
  ;(await db.Employee.all.min('lastName')) satisfies string | null
  ;(await db.Tag.all.sum('größe')) satisfies number | bigint
  ;(await db.Employee.all.distinct('employer.name')) satisfies string[]
  ;(await db.Employee.all.count()) satisfies number
  // @ts-expect-error a bigint, perhaps
  ;(await db.Tag.all.sum('größe')) satisfies number
}

export async function writes(file: Blob) {
  const made = await db.Company.create({ name: 'x', revenues: 1, founded: new Date(), contract: await db.$upload(file), info: { a: 1 } })
  made.name satisfies string
  await db.Company.save(made)
  await db.Company.save({ ...made, name: 'y' })
  await db.Employee.save({ __KEY: '1', __STAMP: 1, employer: made, manager: null, birthDate: new Date() })
  await db.Employee.save((await db.Employee.get(1, ['salary', 'employer.name']))!)
  await db.Tag.create({ größe: 12n })
  await db.City.create({ name: 'Lyon' })
  // @ts-expect-error mandatory
  await db.Company.create({ revenues: 1 })
  // @ts-expect-error mandatory
  await db.Company.create({ name: null })
  // @ts-expect-error the key of this dataclass is not made by the server
  await db.City.create({ population: 1 })
  // @ts-expect-error no such attribute
  await db.Company.create({ name: 'x', revenue: 1 })
  // @ts-expect-error a value of another type
  await db.Company.create({ name: 'x', revenues: '1' })
  // @ts-expect-error without a stamp
  await db.Company.save({ __KEY: '1', name: 'x' })
  // @ts-expect-error read only
  await db.Employee.save({ __KEY: '1', __STAMP: 1, fullName: 'x' })
  // @ts-expect-error an alias
  await db.Employee.save({ __KEY: '1', __STAMP: 1, employerName: 'x' })
  // @ts-expect-error bytes are uploaded first
  await db.Company.save({ __KEY: '1', __STAMP: 1, contract: file })
  // @ts-expect-error an entity, a reference or a key
  await db.Employee.save({ __KEY: '1', __STAMP: 1, employer: { name: 'x' } })
  await db.Company.delete(1)
  await db.Company.delete(['1', 2], { atomic: true })
  await db.Employee.query\`salary = \${0}\`.delete({ atomic: true })
  const outcomes = await db.City.saveAll([{ name: 'a' }, { __KEY: 'b', __STAMP: 1, population: 5 }])
  for (const { entity, error } of outcomes) (error ? error.attribute : entity.name) satisfies string | undefined
  const all = await db.City.saveAtomic([{ name: 'a' }])
  all[0]?.population satisfies number | null | undefined
  // @ts-expect-error neither new nor changed
  await db.City.saveAll([{ __KEY: 'b', population: 5 }])
}

export async function failures(error: unknown) {
  if (db.Company.isConflict(error)) {
    error satisfies ConflictError
    error.current.name satisfies string
    // @ts-expect-error no such attribute
    error.current.nam
  } else if (error instanceof ValidationError) {
    error.attribute satisfies string | undefined
    error.byAttribute satisfies Readonly<Record<string, string>>
  } else if (error instanceof TesserError) {
    error.kind satisfies 'conflict' | 'validation' | 'locked' | 'denied' | 'missing' | 'busy' | 'request' | 'server'
    error.faults[0]?.errCode satisfies number | undefined
    // @ts-expect-error no such kind
    error.kind === 'wrong'
  }
}

export async function sets(signal: AbortSignal) {
  const set = await db.Employee.query\`woman = \${true}\`.entitySet({ timeout: 60, saved: true, signal })
  const both = await set.and(db.Employee.entitySet(set.id))
  ;(await both.query\`salary > 1\`.select('lastName').list({ signal }))[0]?.lastName satisfies string | undefined
  ;(await both.intersects(set)) satisfies boolean
  await both.release({ signal })
  const companies = await db.Company.all.entitySet()
  // @ts-expect-error a set of another dataclass
  await set.and(companies)
  // @ts-expect-error no such function
  await set.call('nothing')
}

export async function services() {
  ;(await db.$session.whoami()).user?.userName satisfies string | undefined
  await db.$session.login('ada', 'secret')
  await db.$session.logout()
  ;(await db.Employee.at(1).lock()).ok satisfies boolean
  // @ts-expect-error no such function
  await db.$call('nothing')
}
`

t.test('correct uses compile, and mistakes do not', async t => {
  const folder = t.testdir()
  const client = clientOf(company.model)
  for (const [name, options] of Object.entries({
    strictest: {},
    node: {
      lib: ['ES2023'],
      types: ['node'],
      module: 'NodeNext',
      moduleResolution: 'NodeNext',
      typeRoots: [join(process.cwd(), 'node_modules/@types')],
    },
    isolated: { isolatedDeclarations: true, declaration: true },
  })) {
    const project = join(folder, name)
    const program = name === 'isolated' ? "export * from './client.ts'\n" : PROGRAM
    writeProject(project, { 'client.ts': client, 'program.ts': program }, options)
    t.strictSame(runCompiler(project), { code: 0, output: '' }, name)
  }
})

t.test('dates are texts on request', async t => {
  const folder = t.testdir()
  const program = `import { createClient } from './client.ts'
export const born = async (): Promise<string | null> => (await createClient('/').Employee.get(1))!.birthDate\n`
  writeProject(folder, { 'client.ts': clientOf(company.model, 'text'), 'program.ts': program })
  t.strictSame(runCompiler(folder), { code: 0, output: '' })
})

t.test('names of any kind compile', async t => {
  const text = { type: 'string' }
  const attributes = {
    ID: { type: 'long' },
    ...{ constructor: text, toString: { type: 'long64' }, valueOf: { type: 'date' }, hasOwnProperty: { type: 'blob' } },
    // biome-ignore lint/suspicious/noThenProperty: the name of an attribute
    ...{ then: text, class: text, 'm²': { type: 'long64' }, 日付: { type: 'date' } },
  }
  const names = ['m²', 'Area¼', 'constructor', 'toString', 'Promise', 'Record', 'Model', 'Database', 'Row', 'class']
  const relation = (name: string) => ({
    toRow: { kind: 'relatedEntity', type: 'm²', foreignKey: 'rowID', inverseName: `of${name}` },
    rowID: { type: 'long' },
  })
  const inverse = { ofRow: { kind: 'relatedEntities', type: 'RowSelection', inverseName: 'toRow' } }
  const dataClasses = names.map(name => {
    const own = name === 'Row' ? relation(name) : name === 'm²' ? inverse : {}
    return [name, { key: 'ID', attributes: { ...attributes, ...own } }] as const
  })
  const program = `import { createClient } from './client.ts'
const db = createClient('/')
export const amount = async (): Promise<number | bigint | null> => (await db['m²'].get(1))!['m²']
export const day = async () => (await db.Row.all.select('toRow.valueOf').list())[0]!.toRow!.valueOf satisfies Date | null\n`
  const folder = t.testdir()
  const model = { name: 'names', dataClasses: Object.fromEntries(dataClasses) }
  writeProject(folder, { 'client.ts': clientOf(model), 'program.ts': program })
  t.strictSame(runCompiler(folder), { code: 0, output: '' })
  for (const word of ['class', 'default', 'in', 'this', 'null', 'readonly', '$x']) {
    const parameters = [{ name: word, schema: { type: 'string' }, isOptional: true }]
    const written = writeFunctions([{ name: 'f', parameters } as unknown as ClassFunction], () => true)
    const program = `import type { Declared } from 'tesser/client'\nexport const f = (f: ${written}): void => void f\n`
    const { diagnostics } = ts.transpileModule(program, { reportDiagnostics: true })
    t.strictSame(diagnostics, [], `a parameter ${word}`)
  }
})
