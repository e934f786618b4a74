import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import t from 'tap'
import { JSON_SCHEMAS, printJsonSchema } from '../../../config/json-schemas.ts'

const FILES = {
  config: 'config/tesser.config.schema.json',
  model: 'config/model.schema.json',
  roles: 'config/roles.schema.json',
} as const

for (const name of ['config', 'model', 'roles'] as const) {
  t.test(`${FILES[name]} is what the code generates`, async t => {
    const advice = `run: node dist/kernel/cli/main.js schema ${name} > ${FILES[name]}`
    t.ok(readFileSync(FILES[name], 'utf8') === printJsonSchema(name), advice)
  })
}

t.test('the schema of the model accepts the demo and refuses an unknown option', async t => {
  const validate = new Ajv({ strict: false }).compile(JSON_SCHEMAS.model)
  const demo = JSON.parse(readFileSync('config/demo/model.json', 'utf8'))
  t.ok(validate(demo), JSON.stringify(validate.errors))
  demo.dataClasses.City.attributes.name.colour = 'red'
  t.notOk(validate(demo))
})

t.test('the schema of the config accepts references in the options of plugins', async t => {
  const validate = new Ajv({ strict: false }).compile(JSON_SCHEMAS.config)
  const options = { key: { env: 'KEY' }, smtp: { password: { file: 'smtp' }, hosts: [{ env: 'HOST' }] } }
  t.ok(validate({ model: 'm.json', plugins: [{ plugin: 'acme', options }] }), JSON.stringify(validate.errors))
})
