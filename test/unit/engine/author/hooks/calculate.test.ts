import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { type Engine, type EngineOptions, openEngine } from '../../../../../engine/index.ts'
import { ModuleBundler } from '../../../../../kernel/module-bundler.ts'
import { engineOptions } from '../../../../support/engine/engine-options.ts'
import { company } from '../../../../support/fixtures/company.ts'
import { readJson, readRequest } from '../../../../support/engine/read-request.ts'
import { temporaryFolder } from '../../../../support/base/temporary-folder.ts'
import { insertRows } from '../../../../support/servers/test-server.ts'

/** A store that can be reopened with different code. */
function reopenable(t: Test) {
  const path = temporaryFolder(t)
  const bundler = new ModuleBundler(true)
  t.teardown(() => bundler.close())
  const steps: object[] = []
  let engine: Engine | undefined
  t.teardown(() => engine?.close())
  return {
    steps,
    /** @param source members of the entity class; undefined: no plugin */
    async open(source: string | undefined, options: Partial<EngineOptions> = {}): Promise<Engine> {
      await engine?.close()
      steps.length = 0
      engine = await openEngine(
        engineOptions({
          path: join(path, 'store'),
          model: company.model,
          onProgress: step => steps.push(step),
          ...(source !== undefined && { functions: { threads: 1, modules: [await moduleOf(t, source, bundler)] } }),
          ...options,
        }),
      )
      return engine
    },
  }
}

async function moduleOf(t: Test, source: string, bundler: ModuleBundler) {
  const folder = t.testdir({
    'classes.ts': `import { calculated, Entity } from 'tesser/classes'
      export class EmployeeEntity extends Entity('Employee') { ${source} }`,
  })
  const url = await bundler.importable(pathToFileURL(join(folder, 'classes.ts')))
  return { plugin: 'test', url: url.href, source: 'classes.ts', settings: {} }
}

const label = (expression: string, options = ''): string =>
  `@calculated({ type: 'string', stored: true, indexed: true ${options} }) get label() { return ${expression} }`

/** Keys of the employees that a filter finds. */
async function find(engine: Engine, filter: string): Promise<string[]> {
  const { __ENTITIES } = await readJson(engine, readRequest('Employee', 'ID', { filter }))
  return __ENTITIES.map(({ __KEY }: { __KEY: string }) => __KEY)
}

t.test('P3.8 values are computed for new code and for changed code', async t => {
  const store = reopenable(t)
  const bare = await store.open(undefined)
  for (const [dataClass, rows] of Object.entries(company.rows)) await insertRows(bare.saves, dataClass, rows)

  // biome-ignore lint/suspicious/noTemplateCurlyInString: source text
  const first = await store.open(label('`<${this.lastName}>`'))
  t.match(store.steps.at(-1), { dataClass: 'Employee', what: 'calculate', done: 6, total: 6 })
  t.same(await find(first, 'label = "<hopper>"'), ['4'])

  // biome-ignore lint/suspicious/noTemplateCurlyInString: source text
  await store.open(label('`<${this.lastName}>`'))
  t.same(store.steps, [], 'the same code recomputes nothing')

  const second = await store.open(label('this.firstName'))
  t.same(await find(second, 'label = grace'), ['4'])
  t.same(await find(second, 'label = "<hopper>"'), [])

  await store.open(label('this.firstName', ', version: 1'))
  t.match(store.steps, [{ what: 'calculate' }])
  await store.open(label('"other"', ', version: 1'))
  t.same(store.steps, [], 'a version alone decides')
})

t.test('P3.8 a calculated attribute disappears without its plugin, and returns with it', async t => {
  const store = reopenable(t)
  const engine = await store.open(label('this.lastName'))
  for (const [dataClass, rows] of Object.entries(company.rows)) await insertRows(engine.saves, dataClass, rows)
  t.same(await find(engine, 'label = turing'), ['5'])
  const bare = await store.open(undefined)
  t.notOk(bare.catalog.dataClassesByName.get('Employee')!.attributesByName.has('label'))
  t.same(await find(await store.open(label('this.lastName')), 'label = turing'), ['5'])
})

t.test('P3.8 a calculated attribute of the model is null without code', async t => {
  const model = structuredClone(company.model) as { dataClasses: { Employee: { attributes: object } } }
  Object.assign(model.dataClasses.Employee.attributes, { label: { kind: 'calculated', type: 'string', stored: true } })
  const store = reopenable(t)
  const source = `@calculated({ type: 'string' }) get label() { return this.lastName }`
  const engine = await store.open(source, { model })
  for (const [dataClass, rows] of Object.entries(company.rows)) await insertRows(engine.saves, dataClass, rows)
  t.same(await find(engine, 'label = turing'), ['5'])
  t.same((await find(await store.open(undefined, { model }), 'label = null')).length, 6)
})

t.test('P3.8 code that fails for an entity leaves the value null and is logged', async t => {
  const store = reopenable(t)
  const bare = await store.open(undefined)
  for (const [dataClass, rows] of Object.entries(company.rows)) await insertRows(bare.saves, dataClass, rows)
  const errors: string[] = []
  const engine = await store.open(label('this.salary.toFixed(0)'), { onInternalError: text => errors.push(text) })
  t.same(await find(engine, 'label = null'), ['5'])
  t.same(await find(engine, 'label = "45000"'), ['2', '3'])
  t.match(errors, [/TypeError/])
})
