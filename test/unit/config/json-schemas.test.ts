import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import t from 'tap'
import { JSON_SCHEMAS, printJsonSchema } from '../../../config/json-schemas.ts'
import { CONFIG_KEYS, environmentNames, flagNames, optionOf } from '../../../config/schema.ts'
import { tablesOf } from '../../support/checks/page-tables.ts'

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

t.test(
  'the README of config has a row for every option, with default, flags, environment variables and meaning',
  async t => {
    const rows = tablesOf('plugins/docs/pages/reference/options.md')
      .get('Options')!
      .map(row => Object.values(row))
    const expected = CONFIG_KEYS.map(key => {
      const { schema, default: value, doc } = optionOf(key)
      const shown = schema.default ?? (JSON.stringify(value) === '{}' ? '' : value)
      const text = Array.isArray(shown) ? shown.join(',') : String(shown ?? '')
      const flags = flagNames(key).map(flag => `\`--${flag}\``)
      const variables = environmentNames(key).map(name => `\`${name}\``)
      return [`\`${key}\``, text && `\`${text}\``, flags.join(' '), variables.join(' '), doc]
    })
    t.strictSame(rows, expected)
  },
)
