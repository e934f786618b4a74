/** Modules of classes that load, those that cannot, and results of their events. */
import { join } from 'node:path'
import t from 'tap'
import { company } from '../support/fixtures/company.ts'
import { startServer } from '../support/servers/test-server.ts'
import { IMPORT, INDEX, writePlugin } from './classes-plugin.ts'

const entity = (members: string) => `export class EmployeeEntity extends Entity('Employee') {\n${members}\n}`
const dataClass = (members: string) => `export class Employee extends DataClass('Employee') {\n${members}\n}`

/** Modules that cannot be loaded. */
const unloadable: [string, string, RegExp][] = [
  [
    'a decorator on a static method',
    dataClass('@exposed static all() {}'),
    /@exposed is for a public method of instances; received the static method all/,
  ],
  [
    'a function that is a getter',
    dataClass('@exposed get total() { return 1 }'),
    /@exposed is for a public method of instances; received the getter total/,
  ],
  [
    'a function that is a field',
    dataClass('@exposed total = () => 1'),
    /@exposed is for a public method of instances; received the field total/,
  ],
  [
    'an event on a private method',
    entity(`@event('saving') #check() {}`),
    /@event is for a public method of instances; received the private method #check/,
  ],
  [
    'a calculated method',
    entity(`@calculated({ type: 'string' }) title() {}`),
    /@calculated is for a public getter of instances; received the method title/,
  ],
  [
    'an unknown option of a function',
    dataClass('@exposed({ deadline: 2 }) total() {}'),
    /the decorator has no option "deadline"; it has deadlineSeconds, description, parameters, result \(.*classes\.ts:4\)/,
  ],
  [
    'parameters that are not a tuple',
    dataClass('@exposed({ parameters: Type.String() as any }) total() {}'),
    /"parameters" takes a tuple of schemas: Type\.Tuple\(\[Type\.String\({ title: "name" }\)\]\) \(.*classes\.ts:4\)/,
  ],
  [
    'a result that is not a schema',
    dataClass(`@exposed({ result: 'text' as any }) total() {}`),
    /a schema is made with Type, such as Type\.String\(\); received "text" \(.*classes\.ts:4\)/,
  ],
  [
    'an unknown option of an attribute',
    entity(`@calculated({ type: 'string', store: true }) get title() { return '' }`),
    /the decorator has no option "store"; did you mean "stored"\?/,
  ],
]

for (const [name, classes, message] of unloadable) {
  t.test(`${name} cannot be loaded`, async t => {
    const config = { plugins: [writePlugin(t, classes)], functions: { threads: 1 } }
    await t.rejects(startServer(t, company, { config }), { message })
  })
}

t.test('valid code starts: base classes, helpers, constructors that assign, files that two modules import', async t => {
  const folder = t.testdir({
    'index.ts': INDEX.replace(
      `new URL('./classes.ts', import.meta.url)`,
      `[new URL('./classes.ts', import.meta.url), new URL('./more.ts', import.meta.url)]`,
    ),
    'base.ts': `${IMPORT}
      export abstract class Named extends Entity('Employee') { @exposed hello() { return 'hello ' + this.lastName } }
      export class CityEntity extends Entity('City') { @exposed shout() { return this.name.toUpperCase() } }`,
    'classes.ts': `${IMPORT}import { CityEntity, Named } from './base.ts'
      export { CityEntity }
      export class EmployeeEntity extends Named {
        visits = 0
        declare salary: number
        #secret = 1
        constructor() { super(); this.notes = 'new' }
        @event('touched', 'salary') salaryTouched() { this.#secret++ }
        @event('validateDrop', 'employer') check() {}
        @calculated({ type: 'string' }) get title() { return 'Dr ' + this.lastName }
        @queryOf('title') byTitle() { return undefined }
      }`,
    // Bundles the class of base.ts and does not export it.
    'more.ts': `${IMPORT}import { CityEntity } from './base.ts'
      export class City extends DataClass('City') { @exposed isCity(city: object) { return [city instanceof CityEntity, CityEntity.name] } }`,
  })
  const server = await startServer(t, company, {
    config: { plugins: [join(folder, 'index.ts')], functions: { threads: 1 } },
  })
  t.same((await server.post('/Employee(1)/hello')).json, { result: 'hello Lovelace' })
  t.same((await server.get('/Employee(1)/title')).json.title, 'Dr Lovelace')
  t.same((await server.post('/City(Paris)/shout')).json, { result: 'PARIS' })
})

t.test('an event that returns neither nothing nor an error object does not let a save pass', async t => {
  const classes = entity(`@event('validateSave') check() { return later[this.notes as 'promise'] }`)
  const values = `const later: any = { promise: Promise.reject(new Error('late')), false: false, text: 'no', object: { message: 'no' } }\nlater.promise.catch(() => {})\n`
  const config = { plugins: [writePlugin(t, values + classes)], functions: { threads: 1 } }
  const server = await startServer(t, company, { config })
  for (const notes of ['promise', 'false', 'text', 'object']) {
    const { json } = await server.post('/Employee?$method=update', { lastName: 'X', notes })
    t.match(json, { __STATUS: { success: false }, __ERROR: [{ errCode: 1562 }, { errCode: 1534 }] }, notes)
  }
  t.match((await server.post('/Employee?$method=update', { lastName: 'X', notes: 'fine' })).json, { __KEY: String })
})
