/** Types of functions without declarations come from the classes of plugins. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { installTesser, runCompiler, runTesser } from '../support/commands/author-package.ts'
import { company } from '../support/fixtures/company.ts'
import { writeProject } from '../support/clients/typed-client.ts'

/** Classes without declarations; the signatures of their methods say what functions take and return. */
const CLASSES = `
import { DataClass, DataStore, ds, Entity, EntitySelection, exposed, onHTTPGet, Singleton, type EntityOf, type SelectionOf } from 'tesser/classes'

export class Employee extends DataClass('Employee') {
  @exposed hire(name: string, on?: Date) {
    return this.new({ lastName: name, hired: on ?? null })
  }
}
export class EmployeeEntity extends Entity('Employee') {
  @exposed raise(percent: number) {
    return { salary: (this.salary ?? 0) * percent, at: new Date(), big: 1n, list: [{ day: new Date() }] }
  }
  @exposed employerOf(): EntityOf<'Company'> | null {
    return this.employer
  }
}
export class EmployeeSelection extends EntitySelection('Employee') {
  @onHTTPGet paid(minimum: number, boss: EntityOf<'Employee'>, among: SelectionOf<'Company'>) {
    return this.query('salary > :1', minimum)
  }
  @exposed nothing(): void {}
  hidden() { return 1 }
}
export class Store extends DataStore {
  @exposed total() {
    return ds.Employee.getCount()
  }
  @exposed async *days(count: number) {
    for (let i = 0; i < count; i++) yield { i, at: new Date() }
  }
  @exposed *staff() {
    yield* ds.Employee.all()
  }
}
export class Cart extends Singleton {
  @exposed add(id: number, count: number) {
    return [id, count]
  }
}
`
const CALLS = `
import { createClient } from './client.ts'
const db = createClient<typeof import('./classes.ts')>('/rest')
export async function calls() {
  ;(await db.Employee.call('hire', ['Ada'])).lastName satisfies string
  await db.Employee.call('hire', ['Ada', '2020-01-31'])
  // @ts-expect-error the method gets a text
  await db.Employee.call('hire', ['Ada', new Date()])
  const raised = await db.Employee.at(1).call('raise', [5])
  raised.salary satisfies number
  raised.at satisfies string
  raised.big satisfies number | bigint
  raised.list[0]?.day satisfies string | undefined
  ;(await db.Employee.at(1).call('employerOf'))?.name satisfies string | undefined
  const boss = db.Employee.at(2)
  const among = await db.Company.all.entitySet()
  const page = await db.Employee.all.select('lastName').call('paid', [5, boss, among])
  page.entities[0]?.lastName satisfies string | undefined
  ;(await db.Employee.all.call('nothing')) satisfies null
  ;(await db.$call('total')) satisfies number
  for await (const day of await db.$call('days', [2])) day.at satisfies string
  for await (const employee of await db.$call('staff')) employee.lastName satisfies string | null
  ;(await db.$singleton('Cart', 'add', [1, 2]))[0] satisfies number | undefined
  // @ts-expect-error not asked for
  page.entities[0]?.firstName
  // @ts-expect-error a number
  await db.Employee.at(1).call('raise', ['5'])
  // @ts-expect-error an argument is missing
  await db.Employee.at(1).call('raise')
  // @ts-expect-error an entity of another dataclass
  await db.Employee.all.call('paid', [5, db.Company.at(1), among])
  // @ts-expect-error not exposed
  await db.Employee.all.call('hidden')
  // @ts-expect-error of the entity
  await db.Employee.call('raise', [5])
  // @ts-expect-error one argument too many
  await db.$singleton('Cart', 'add', [1, 2, 3])
  // @ts-expect-error no such function
  await db.$singleton('Cart', 'remove', [1])
}
`
const UNTYPED = `
import { createClient } from './client.ts'
const db = createClient('/rest')
export async function calls() {
  ;(await db.Employee.call('hire', ['Ada', 1, {}])) satisfies unknown
  // @ts-expect-error nothing is known of it
  ;(await db.Employee.call('hire', [])).lastName
}
`

const PLUGIN = `
import { definePlugin } from 'tesser'
export default definePlugin({ name: 'staff', kernel: '^1.0.0', classes: new URL('./classes.ts', import.meta.url) })
`

t.test('functions have the types of the methods of their classes', async t => {
  const folder = t.testdir()
  const options = { target: 'ES2022', lib: ['ES2023', 'DOM'], types: [], noPropertyAccessFromIndexSignature: false }
  writeProject(
    folder,
    { 'classes.ts': CLASSES, 'index.ts': PLUGIN, 'calls.ts': CALLS, 'untyped.ts': UNTYPED, 'tesser-model.d.ts': '' },
    { ...options, module: 'NodeNext', moduleResolution: 'NodeNext', skipLibCheck: true },
  )
  const config = { model: 'model.json', plugins: ['./index.ts'] }
  for (const [name, content] of Object.entries({
    'model.json': company.model,
    'tesser.config.json': config,
    'package.json': { type: 'module' },
  })) {
    writeFileSync(join(folder, name), JSON.stringify(content))
  }
  installTesser(folder)
  t.match(await runTesser(folder, 'types'), { code: 0 })
  for (const runtime of [[], ['--module']]) {
    t.match(await runTesser(folder, 'client', ...runtime), { code: 0 })
    t.strictSame(runCompiler(folder), { code: 0, output: '' }, String(runtime))
  }
})
