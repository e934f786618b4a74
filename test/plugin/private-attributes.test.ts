/** Saves by code that private attributes of the store refuse: the client of the code learns neither name nor value. */
import t from 'tap'
import { modelWith } from '../support/fixtures/model-with.ts'
import { startConfigured } from '../support/servers/configured-server.ts'

const MODEL = modelWith({
  Person: {
    pin: { type: 'string', maxLength: 4, unique: true, scope: 'private' },
    name: { type: 'string', maxLength: 4 },
  },
})
const FILES = {
  'index.ts': `import { definePlugin } from 'tesser'
export default definePlugin({ name: 'acme', kernel: '^1.0.0', classes: new URL('./classes.ts', import.meta.url) })`,
  'classes.ts': `import { DataClass, exposed } from 'tesser/classes'
export class Person extends DataClass('Person') {
  @exposed returned(values) {
    return this.new(values).save()
  }
  @exposed thrown(values) {
    this.new(values).saveOrThrow()
  }
}`,
}

t.test('errors and statuses', async t => {
  const config = { plugins: [`${t.testdir(FILES)}/index.ts`], functions: { threads: 1 } }
  const { ask } = await startConfigured(t, { fixture: { model: MODEL, rows: {} }, config })
  const call = async (name: string, values: object) => {
    const { text } = await ask(`/rest/Person/${name}`, { body: JSON.stringify([values]) })
    return { text, json: JSON.parse(text) }
  }
  t.match((await call('returned', { ID: 1, pin: '1234' })).json, { result: { success: true } })
  const hidden = { errCode: 1570, attribute: undefined, message: 'a hidden value of Person violates the model' }
  for (const pin of ['98765', '1234']) {
    for (const name of ['returned', 'thrown']) {
      const { text, json } = await call(name, { ID: 2, pin })
      t.match((json.__ERROR ?? json.result.errors)[0], hidden, `${name}: ${pin}`)
      t.notMatch(text, /pin|98765|1234/)
    }
  }
  t.match((await call('returned', { ID: 2, name: '98765', pin: '98765' })).json.result.errors, [
    hidden,
    { attribute: 'name', message: 'name has 5 characters; at most 4 are expected' },
  ])
})

t.test('aliases of hidden attributes and keys of hidden dataclasses', async t => {
  const ID = { type: 'long' }
  const model = {
    name: 'hidden',
    dataClasses: {
      Person: {
        key: 'ID',
        attributes: {
          ID,
          salary: { kind: 'calculated', type: 'number', scope: 'private' },
          pay: { kind: 'alias', path: 'salary' },
          vaultID: ID,
          vault: { kind: 'relatedEntity', type: 'Vault', foreignKey: 'vaultID' },
        },
      },
      Vault: { key: 'ID', scope: 'private', attributes: { ID } },
    },
  } as const
  const { ask } = await startConfigured(t, { fixture: { model, rows: {} } })
  for (const [entity, error] of [
    [
      { ID: 1, pay: 8 },
      { attribute: 'pay', message: 'the value of pay cannot be modified: it is calculated' },
    ],
    [
      { ID: 1, vaultID: 5 },
      { attribute: 'vaultID', message: 'vaultID cannot be 5: no entity has this key' },
    ],
    [{ ID: 1, salary: 8 }, { message: 'no attribute "salary" in Person' }],
    [{ ID: 1, vault: 5 }, { message: 'no attribute "vault" in Person' }],
  ] as const) {
    for (const method of ['update', 'validate']) {
      const { text } = await ask(`/rest/Person?$method=${method}`, { body: JSON.stringify(entity) })
      const { __ENTITIES: [answer] = [JSON.parse(text)] } = JSON.parse(text)
      t.match(answer.__ERROR[0], error)
      t.notMatch(text, 'salary' in entity ? /Vault/ : /Vault|salary/)
    }
  }
})
