/** Descriptions of dataclasses and attributes, wherever people and programs read the model, and those of private ones nowhere. */
import t from 'tap'
import { writeTypes } from '../../engine/author/data-api/write-types.ts'
import { publicView } from '../../engine/catalog/view.ts'
import { ClassRegistry } from '../../engine/author/declare/class-registry.ts'
import { loadModel } from '../../engine/index.ts'
import { clientText } from '../../plugins/client/index.ts'
import { connect } from '../support/clients/mcp-client.ts'
import { startServer } from '../support/servers/test-server.ts'

const MODEL = {
  name: 'library',
  dataClasses: {
    Loan: {
      description: 'A copy that a reader has taken home.',
      key: 'ID',
      attributes: {
        ID: { type: 'long', autoFill: 'increment' },
        due: { type: 'date', simpleDate: true, description: 'Last day */ on which\nit may be returned.' },
        remark: { type: 'string', scope: 'private', description: 'What the staff thinks.' },
        readerID: { type: 'long' },
        reader: { kind: 'relatedEntity', type: 'Reader', foreignKey: 'readerID', description: 'Who has it.' },
      },
    },
    Reader: { key: 'ID', attributes: { ID: { type: 'long' } } },
    Fine: { description: 'What is owed.', scope: 'private', key: 'ID', attributes: { ID: { type: 'long' } } },
  },
}
const PRIVATE = /staff thinks|is owed/

t.test('a description is in the catalog, the OpenAPI document, MCP and the client, without private ones', async t => {
  const server = await startServer(t, { model: MODEL, rows: {} })
  const catalog = await server.get('/$catalog/Loan')
  t.match(catalog.json, {
    description: 'A copy that a reader has taken home.',
    attributes: [{ name: 'ID' }, { name: 'due', description: /^Last day/ }, {}, { description: 'Who has it.' }],
  })
  t.notOk('description' in catalog.json.attributes[0])
  const all = await server.get('/$catalog/$all')
  t.match(all.json.dataClasses[0], { description: /^A copy/, attributes: [{}, { description: /^Last day/ }] })

  const openapi = await server.get('/$openapi')
  const { tags, components } = openapi.json
  t.match(tags[0], { name: 'Loan', description: 'A copy that a reader has taken home.' })
  t.match(components.schemas.Loan, {
    description: /^A copy that a reader has taken home\. /,
    properties: { due: { description: /^Last day/ }, reader: { description: 'Who has it.' } },
  })
  t.match(components.schemas['Loan.save'].properties.due.description, /^Last day/)

  const agent = await connect(t, server.url)
  const { text } = await agent.call('describe', { class: ['Loan'] })
  t.match(text, /^Loan, key ID; A copy that a reader has taken home\.\n/)
  t.match(text, /\ndue: date, simpleDate; Last day \*\/ on which it may be returned\.\n/)

  const seen = { view: publicView(loadModel(MODEL)), classes: new ClassRegistry(), mayCall: () => true }
  const client = clientText(seen, { source: 'test', dates: 'date', isModule: false })
  t.match(client, /\/\*\* A copy that a reader has taken home\. \*\/\nexport interface \$Loan /)
  t.match(client, /\/\*\* Last day \* \/ on which it may be returned\. \*\/\n +due: string \| null/)
  for (const shown of [catalog.text, all.text, openapi.text, text, client]) t.notMatch(shown, PRIVATE)
})

t.test('types of plugin code have the descriptions of everything, as comments', async t => {
  const types = writeTypes(loadModel(MODEL), 'model.json')
  t.match(types, /\/\*\* A copy that a reader has taken home\. \*\/\n +Loan: \{/)
  t.match(types, /\/\*\* Last day \* \/ on which it may be returned\. \*\/\n +get due\(\)/)
  t.match(types, PRIVATE)
})

t.test('a description is a text of 1 to 1,000 characters', async t => {
  for (const description of ['', 'x'.repeat(1_001), 1, ['x']])
    t.throws(
      () => loadModel({ ...MODEL, dataClasses: { A: { key: 'ID', description, attributes: {} } } }),
      /description/,
    )
})
