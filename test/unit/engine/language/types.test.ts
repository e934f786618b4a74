import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'
import ts from 'typescript'
import * as classes from '../../../../engine/language/classes.ts'
import type * as Declared from '../../../../engine/language/tesser-classes.d.ts'
import { loadModel } from '../../../../engine/catalog/load-model.ts'
import { writeTypes } from '../../../../engine/language/write-types.ts'
import { company } from '../../../support/fixtures/company.ts'

/** What authors import is what they are told that it is: an error here when it is not. */
classes satisfies typeof Declared

const HEAD = `
import { calculated, DataClass, DataStore, ds, Entity, EntitySelection, event, exposed, onHTTPGet, queryOf, Singleton } from 'tesser/classes'
import type { EntityOf, Status } from 'tesser/classes'
`

/** Every line with a mistake says so: without the mistake it would not compile either. */
const TYPED = `${HEAD}
export class Employee extends DataClass('Employee') {
  @exposed wellPaid(minimum: number) {
    return this.query('salary >= :1 order by lastName', minimum)
  }
}
export class EmployeeEntity extends Entity('Employee') {
  @calculated({ type: 'string', stored: true }) get fullName(): string {
    return \`\${this.firstName} \${this.lastName}\`
  }
  set fullName(value: string) {
    this.lastName = value
  }
  @queryOf('fullName') byFullName(asked: { value: string }) {
    return { query: 'lastName = :1', parameters: [asked.value] }
  }
  @onHTTPGet employerOf(): string | undefined {
    return this.employer?.name
  }
  @exposed({ deadlineSeconds: 2 }) raise(percent: number): Status {
    this.salary = (this.salary ?? 0) * (1 + percent / 100)
    this.birthDate = new Date()
    // @ts-expect-error no such attribute
    this.salry = 1
    // @ts-expect-error a text is no number
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
    return [this.sum('salary'), this.max('employer.name'), names]
  }
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

/** What may be written before there are types. */
const UNTYPED = `${HEAD}
export class EmployeeEntity extends Entity('Employee') {
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
  paths: { 'tesser/classes': [resolve('engine/language/tesser-classes.d.ts')] },
}

function problems(folder: string, files: Record<string, string>): string[] {
  mkdirSync(folder, { recursive: true })
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  const names = Object.keys(files).map(name => join(folder, name))
  const program = ts.createProgram(names, { ...OPTIONS, typeRoots: [resolve('node_modules/@types')] })
  return ts.getPreEmitDiagnostics(program).map(({ file, start, messageText }) => {
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

t.test('without them every name will do', t => {
  t.same(problems(join(t.testdir(), 'untyped'), { 'classes.ts': UNTYPED }), [])
  t.end()
})

t.test('names that are no identifiers are quoted', t => {
  const model = {
    name: 'odd',
    dataClasses: { A: { key: 'ID', attributes: { ID: { type: 'long' }, größe: { type: 'long64' } } } },
  }
  t.match(writeTypes(loadModel(model), 'model.json'), /größe: number \| bigint \| null/)
  t.end()
})
