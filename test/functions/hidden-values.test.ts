import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { company } from '../support/fixtures/company.ts'
import { startServer } from '../support/servers/test-server.ts'

const INDEX = `import { definePlugin } from 'tesser'
export default definePlugin({ name: 'acme', kernel: '^1.0.0', classes: new URL('./classes.ts', import.meta.url) })`

const CLASSES = `import { DataClass, Entity, event, exposed } from 'tesser/classes'
export class Company extends DataClass('Company') { @exposed one(key) { return this.get(key) } }
export class CompanyEntity extends Entity('Company') {
  @event('saving') stamped() { if (this.name === 'Made') this.revenues = this.revenues }
  @exposed give(name, value) {
    this[name] = value
    const { success, statusText } = this.save()
    return [success, statusText ?? null]
  }
}`

t.test(
  'code that saves with the rights of its caller does not reveal a hidden value by accepting an equal one',
  async t => {
    const folder = t.testdir({})
    writeFileSync(join(folder, 'index.ts'), INDEX)
    writeFileSync(join(folder, 'classes.ts'), CLASSES)
    const hidden = { applyTo: 'Company.revenues', type: 'attribute', read: ['hr'], update: ['hr'] }
    const fixed = { applyTo: 'Company.founded', type: 'attribute', update: ['hr'] }
    const server = await startServer(t, company, {
      config: { plugins: [join(folder, 'index.ts')], functions: { threads: 1 } },
      roles: { privileges: [{ privilege: 'hr' }], permissions: { allowed: [hidden, fixed] } },
    })
    const give = async (...values: unknown[]) => (await server.post('/Company(2)/give', values)).json.result
    for (const revenues of [20_000, 20_001, null]) t.same(await give('revenues', revenues), [false, 'Permission Error'])
    const { founded } = (await server.get('/Company(2)')).json
    t.same(await give('founded', founded), [true, null], 'a readable value may be sent back')
    t.same(await give('founded', '1999-01-01'), [false, 'Permission Error'])
    t.same(await give('name', 'Made'), [true, null], 'a value that an event sets needs no right of the caller')
  },
)

t.test('a function cannot tell apart keys of a dataclass that its caller may not read', async t => {
  const folder = t.testdir({})
  writeFileSync(join(folder, 'index.ts'), INDEX)
  writeFileSync(join(folder, 'classes.ts'), CLASSES)
  const server = await startServer(t, company, {
    config: { plugins: [join(folder, 'index.ts')], functions: { threads: 1 } },
    roles: {
      privileges: [{ privilege: 'hr' }],
      permissions: { allowed: [{ applyTo: 'Company', type: 'dataclass', read: ['hr'] }] },
    },
  })
  const answers = await Promise.all([2, 99, 'no key', null].map(key => server.post('/Company/one', [key])))
  const shown = answers.map(({ status, json }) => ({ status, json }))
  t.equal(shown[0]!.status, 401)
  for (const answer of shown) t.same(answer, shown[0])
})
