import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'
import ts from 'typescript'
import * as classes from '../../../../../engine/author/data-api/classes.ts'
import type * as Declared from '../../../../../engine/author/data-api/tesser-classes.d.ts'
import { loadModel } from '../../../../../engine/catalog/load-model.ts'
import { writeTypes } from '../../../../../engine/author/data-api/write-types.ts'
import { company } from '../../../../support/fixtures/company.ts'
import { modelWith } from '../../../../support/fixtures/model-with.ts'

/** A compile error here means that the declared types differ from those of the modules. */
classes satisfies typeof Declared

const HEAD = `
import { calculated, DataClass, DataStore, ds, Entity, entityOf, EntitySelection, event, exposed, onHTTPGet, orderByOf, queryOf, selectionOf, Singleton, Type } from 'tesser/classes'
import type { EntityOf, EventOf, Status } from 'tesser/classes'
`

/** Every mistake is marked `@ts-expect-error`: a marked line that compiles is an error too. */
const TYPED = `${HEAD}
export class Employee extends DataClass('Employee') {
  @exposed wellPaid(minimum: number) {
    return this.query('salary >= :1 order by lastName', minimum)
  }
  @event('restrict') own() {
    return this.query('ID = 1')
  }
  // @ts-expect-error belongs in the class of the entity
  @event('validateSave') check() {}
  // @ts-expect-error a selection of another dataclass
  @event('restrict') other() { return ds.City.all() }
  // @ts-expect-error nothing waits for it
  @event('restrict') async later() { return null }
}
export class EmployeeEntity extends Entity('Employee') {
  @calculated({ type: 'string', stored: true }) get fullName(): string {
    return \`\${this.firstName} \${this.lastName}\`
  }
  set fullName(value: string) {
    this.lastName = value
  }
  @queryOf('fullName') byFullName(asked: { value: unknown }) {
    return { query: 'lastName = :1', parameters: [asked.value] }
  }
  @event('touched', 'salary') salaryTouched({ attributeName, kind }: EventOf<'touched'>) {
    attributeName satisfies string
    kind satisfies 'touched'
  }
  @event('validateSave') check() {
    if (this.salary === 0) return { errCode: 1, message: 'no', seriousError: true }
  }
  @event('afterSave') saved({ saveStatus, savedAttributes }: EventOf<'afterSave'>) {
    saveStatus satisfies 'success' | 'failed'
    // @ts-expect-error there is no such detail
    return savedAttributes.length > 0 && savedAttributes.saved
  }
  @exposed successor() {
    ds.Employee.new({ lastName: 'x', fullName: 'y', birthDate: new Date(), employer: 1 })
    const given: object = JSON.parse('{}')
    ds.Employee.new(given)
    // @ts-expect-error no such attribute
    return ds.Employee.new({ lastNam: 'x' })
  }
  // @ts-expect-error no such attribute
  @event('touched', 'salry') salryTouched() {}
  // @ts-expect-error no such event
  @event('validatesave') checkAgain() {}
  // @ts-expect-error nothing waits for it
  @event('validateSave') async checkLater() {}
  // @ts-expect-error not an error object
  @event('saving') savingAny() { return { message: 'no' } }
  // @ts-expect-error an event of the entity, not of an attribute
  @event('afterSave', 'salary') salarySaved() {}
  // @ts-expect-error belongs in the class of the dataclass
  @event('restrict') own() { return null }
  // @ts-expect-error no such attribute
  @queryOf('fulName') byFulName() { return undefined }
  // @ts-expect-error an order is a text
  @orderByOf('fullName') ordered() { return 1 }
  @onHTTPGet employerOf(): string | undefined {
    return this.employer?.name
  }
  @exposed({ deadlineSeconds: 2 }) raise(percent: number): Status {
    this.salary = (this.salary ?? 0) * (1 + percent / 100)
    this.birthDate = new Date()
    // @ts-expect-error no such attribute
    this.salry = 1
    // @ts-expect-error a text is not a number
    this.salary = 'much'
    // @ts-expect-error may be null
    this.employer.name
    // @ts-expect-error another dataclass
    this.employer = ds.City.get('Paris')
    // @ts-expect-error cannot be assigned
    this.directReports = ds.Employee.all()
    // @ts-expect-error no such event
    event('saved')
    return this.save()
  }
}
export class EmployeeSelection extends EntitySelection('Employee') {
  @exposed total() {
    // @ts-expect-error no such attribute
    this.sum('salry')
    // @ts-expect-error not a relation
    this.related('salary')
    const names: (string | undefined)[] = Array.from(this.related('employer'), ({ name }) => name)
    const ages: number[] = this.distinct('salary')
    const highest: number | null = this.max('salary')
    // @ts-expect-error texts are not numbers
    const wrong: number[] = this.distinct('lastName')
    return [this.sum('salary'), this.max('employer.name'), names, ages, highest, wrong]
  }
}
const NAME = Type.String({ title: 'name' })
const COUNT = Type.Optional(Type.Integer({ title: 'count' }))
export const queries = (name: string, any: any, values: number[], text: string, either: string | number) => [
  ds.Employee.query('salary > 1 and lastName = "nothing and = order by x"'),
  ds.Employee.query('  not( salary>=:1 OR  (employer.name begin :2)) except hired < :3 order  by lastName desc, employer.name', 1, name, new Date()),
  ds.Employee.query('woman'),
  ds.Employee.query('lastName = x:1 and woman = :1', true),
  ds.Employee.query('!woman && lastName in :1', [name]),
  ds.Employee.query('salary in :1 or salary = :2 or lastName = :3', [1, 2], either, 5),
  ds.Employee.query('lastName in [a and b, c or d] and employer.info.anything[].x = 3 and __KEY = 1'),
  ds.Employee.query('lastName in ["a and b", "c or d"]'),
  ds.Employee.query("lastName = 'a and b' or lastName = 'c or d'"),
  ds.Employee.query('salary=:1|nothing=2', 'x'),
  ds.Employee.query('employer.staff.manager.employer.info.a.b = 1 and employerName = x and fullName = :1', name),
  ds.Employee.query('salary = :a and lastName = :1', { parameters: { a: 'x' } }),
  ds.Employee.query('salary = :1', { parameters: [1] }),
  ds.Employee.query('salary = :1 and ID = :2', any, ...values),
  ds.Employee.query(text, 1),
  ds.Employee.query(\`salary > \${values.length}\`),
  ds.Employee.query(\`
    salary > :1
    and employer.name = :2
    order by lastName
  \`, 5, 'x'),
  ds.Employee.query('employer = null and :1 = 3 and dailyWork > :2 and lastName = O"Hara and none = 1', 'lastName', '01:00'),
  ds.Employee.query('order by lastName'),
  ds.Employee.query(''),
  ds.Employee.all().orderBy('lastName, employer.name desc'),
  ds.Employee.all().orderBy(text),
  ds.Employee.all().distinct('employer.name'),
  // @ts-expect-error no such attribute
  ds.Employee.query('salry > 1'),
  // @ts-expect-error no such attribute
  ds.Employee.query('salary > 1 and lastNam = :1', name),
  // @ts-expect-error no such attribute
  ds.Employee.query('not(lastNam=:1)', name),
  // @ts-expect-error no such attribute behind the relation
  ds.Employee.query('employer.nme = "x"'),
  // @ts-expect-error no such attribute behind three relations
  ds.Employee.query('employer.staff.manager.nme = "x and y"'),
  // @ts-expect-error no such attribute in the order
  ds.Employee.query('salary > 1 order by lastNam'),
  // @ts-expect-error no such attribute in the order
  ds.Employee.query('order by lastName desc, employer.nme'),
  // @ts-expect-error no such bool
  ds.Employee.query('woman and actve'),
  // @ts-expect-error no such attribute in an alternative
  ds.Employee.query('(salary in [1, 2]) or(wman)'),
  // @ts-expect-error a text for a number
  ds.Employee.query('lastName = :1 and salary > :2', name, 'much'),
  // @ts-expect-error a date for a number
  ds.Employee.query('salary>:1', new Date()),
  // @ts-expect-error a number for a bool
  ds.Employee.query('woman = :1', 1),
  // @ts-expect-error no such attribute
  ds.Employee.all().query('lastNam = :1', name),
  // @ts-expect-error no such attribute
  ds.Employee.all().orderBy('lastName, firstNam desc'),
  // @ts-expect-error no such attribute behind the relation
  ds.Employee.all().distinct('employer.nme'),
]
export class City extends DataClass('City') {
  @exposed({ parameters: Type.Tuple([NAME, COUNT]), result: selectionOf('City') }) right(name: string, count = 1) {
    return this.query('name = :1', name).slice(0, count)
  }
  @exposed({ parameters: Type.Tuple([NAME, COUNT]) }) optional(name: string, count?: number) {}
  @onHTTPGet({ parameters: Type.Tuple([NAME, COUNT]) }) fewer(name: string) {}
  @exposed({ parameters: Type.Tuple([]), result: Type.Null() }) nothing() {}
  @exposed({ parameters: Type.Tuple([entityOf('Employee', { title: 'who' })]) }) of(who: EntityOf<'Employee'>) {
    return who.salary
  }
  @exposed({ result: Type.Object({ at: Type.String({ format: 'date-time' }), names: Type.Array(Type.String()) }) })
  dates() {
    return { at: new Date(), names: ['a'] as const }
  }
  @exposed({ result: Type.Union([entityOf('Employee'), Type.Null()]) }) first() {
    return ds.Employee.all().first()
  }
  // @ts-expect-error a text is passed
  @exposed({ parameters: Type.Tuple([NAME, COUNT]) }) wrong(name: number) {}
  // @ts-expect-error it may be left out
  @exposed({ parameters: Type.Tuple([NAME, COUNT]) }) needed(name: string, count: number) {}
  // @ts-expect-error a third one is never passed
  @exposed({ parameters: Type.Tuple([NAME, COUNT]) }) more(name: string, count = 1, third: boolean) {}
  // @ts-expect-error an entity of another dataclass
  @exposed({ parameters: Type.Tuple([entityOf('City', { title: 'a' })]) }) other(a: EntityOf<'Employee'>) {}
  // @ts-expect-error a text is declared
  @exposed({ result: Type.String() }) number() { return 1 }
  // @ts-expect-error may be null
  @exposed({ result: entityOf('Employee') }) perhaps() { return ds.Employee.all().first() }
  // @ts-expect-error of another dataclass
  @exposed({ result: selectionOf('City') }) employees() { return ds.Employee.all() }
  // @ts-expect-error no such dataclass
  @exposed({ result: selectionOf('Citi') }) citi(): any {}
  // @ts-expect-error no such option
  @exposed({ parameter: Type.Tuple([NAME]) }) typo() {}
}
// @ts-expect-error no such dataclass
export class Employees extends DataClass('Employees') {}
// @ts-expect-error no such type
calculated({ type: 'text' })
export class Store extends DataStore {
  @exposed authentify(name: string): EntityOf<'Employee'> | null {
    // @ts-expect-error no such dataclass
    ds.Employe
    // @ts-expect-error a key is a number here
    ds.Employee.get({})
    const staff: number = ds.Company.get(1)?.staff.length ?? 0
    return ds.transaction(() => ds.Employee.query('lastName = :1', name).at(staff))
  }
}
`

/** Code that compiles before types are generated. */
const UNTYPED = `${HEAD}
export class EmployeeEntity extends Entity('Employee') {
  @event('touched', 'anything') anythingTouched() {}
  @queryOf('anything') byAnything() { return 'ID = 1' }
  @onHTTPGet greet() {
    this.salary *= 2
    return \`\${this.employer.name} \${ds.Whatever?.all().sum('x')}\`
  }
}
export class Cart extends Singleton {}
// @ts-expect-error a wrong plugin does not compile, types or not
exposed(class {})
`

const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  lib: ['lib.es2023.d.ts', 'lib.es2024.string.d.ts'],
  types: ['node'],
  strict: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: true,
  noEmit: true,
  allowImportingTsExtensions: true,
  paths: { 'tesser/classes': [resolve('engine/author/data-api/tesser-classes.d.ts')] },
}

function programOf(folder: string, files: Record<string, string>): ts.Program {
  mkdirSync(folder, { recursive: true })
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  const names = Object.keys(files).map(name => join(folder, name))
  return ts.createProgram(names, { ...OPTIONS, typeRoots: [resolve('node_modules/@types')] })
}

function problems(folder: string, files: Record<string, string>): string[] {
  return ts.getPreEmitDiagnostics(programOf(folder, files)).map(({ file, start, messageText }) => {
    const line = file && start !== undefined ? file.getLineAndCharacterOfPosition(start).line + 1 : ''
    return `${file?.fileName ?? ''}:${line} ${ts.flattenDiagnosticMessageText(messageText, '\n')}`
  })
}

t.test('with the types of the model, wrong names and values do not compile', t => {
  const model = writeTypes(loadModel(company.model), 'model.json')
  const classes = `${TYPED}
declare module 'tesser/classes' {
  interface Classes {
    EmployeeEntity: EmployeeEntity
    EmployeeSelection: EmployeeSelection
    Employee: Employee
  }
}
ds.Employee.wellPaid(1).total()
ds.Employee.get(1)?.raise(2).success satisfies boolean | undefined
ds.Employee.all().first()?.fullName satisfies string | undefined
ds.Company.get(1)?.staff.query('salary > 1').total()
`
  t.same(problems(join(t.testdir(), 'typed'), { 'model.d.ts': model, 'classes.ts': classes }), [])
  t.end()
})

t.test('a compile error of a text names the attribute and its dataclass', t => {
  const model = writeTypes(loadModel(company.model), 'model.json')
  const found = problems(join(t.testdir(), 'texts'), {
    'model.d.ts': model,
    'classes.ts': `${HEAD}
ds.Employee.query('salary > 1 and employer.nme = :1', 'x')
ds.Employee.query('salary > :1', 'much')`,
  })
  t.match(found, [
    /not assignable to parameter of type '"no attribute \\"nme\\" in Company"'\.$/,
    /not assignable to parameter of type '":1 is not a value for \\"salary\\""'\.$/,
  ])
  t.end()
})

t.test('each text of five conditions costs the compiler at most 1,000 instantiations', t => {
  const model = writeTypes(loadModel(company.model), 'model.json')
  const folder = t.testdir()
  const condition = (index: number): string =>
    ['salary > ', 'lastName = y', 'employer.name begin :1 or ID = ', 'not(woman) and ID > ', 'employer.staff.ID < '][
      index % 5
    ]! + index
  const costOf = (count: number): number => {
    const query = (_: unknown, i: number): string =>
      `ds.Employee.query('${condition(i)} and ${condition(i + 1)} or ${condition(i * 3)} order by lastName', 'x')\n`
    const source = HEAD + Array.from({ length: count }, query).join('')
    const program = programOf(join(folder, `${count}`), { 'model.d.ts': model, 'classes.ts': source })
    t.same(ts.getPreEmitDiagnostics(program), [])
    return program.getInstantiationCount()
  }
  const each = (costOf(51) - costOf(1)) / 50
  t.ok(each <= 1_000, `${each} instantiations`)
  t.end()
})

t.test('a wrong event name is the only problem', t => {
  const source = `${HEAD}\nexport class Any extends Entity('Employee') { @event('validateSav') check() {} }`
  const found = problems(join(t.testdir(), 'event'), { 'classes.ts': source })
  t.equal(found.length, 1)
  t.match(found[0], /Argument of type '"validateSav"' is not assignable to parameter of type 'EventKind'\.$/)
  t.end()
})

t.test('without generated types every name is accepted', t => {
  t.same(problems(join(t.testdir(), 'untyped'), { 'classes.ts': UNTYPED }), [])
  t.end()
})

t.test('a name with letters beyond ASCII is an identifier, and not quoted', t => {
  const model = modelWith({ A: { größe: { type: 'long64' } } })
  t.match(writeTypes(loadModel(model), 'model.json'), /größe: number \| bigint \| null/)
  t.end()
})
