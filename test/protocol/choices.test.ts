/** Attributes with choices: what a save accepts, and what catalog, OpenAPI document and client say about them. */
import t from 'tap'
import { startServer } from '../support/servers/test-server.ts'

const CHOICES = ['sad', 'so so', 'happy']
const MODEL = {
  name: 'choices',
  dataClasses: {
    Person: {
      key: 'ID',
      attributes: {
        ID: { type: 'long', autoFill: 'increment' },
        mood: { type: 'string', choices: CHOICES },
        level: { type: 'string', choices: ['low', 'high'], mandatory: true, default: 'low' },
        state: { type: 'string', choices: Array.from({ length: 30 }, (_, i) => `S${i + 1}`) },
      },
    },
  },
}

t.test('attributes with choices', async t => {
  const server = await startServer(t, { model: MODEL, rows: { Person: [{ mood: 'sad' }] } })
  const save = (body: unknown) => server.post('/Person?$method=update', body)

  t.match((await save({ mood: 'so so' })).json, { mood: 'so so', level: 'low', __STAMP: 1 })
  t.match((await save({ mood: null })).json, { mood: null, __STAMP: 1 })
  for (const mood of ['odd', 'Sad', '', 'happy ']) {
    const { status, json } = await save({ mood })
    t.equal(status, 422)
    t.match(json.__ERROR[0], {
      errCode: 1571,
      attribute: 'mood',
      message: `mood is ${JSON.stringify(mood)}; one of "sad", "so so", "happy" is expected`,
    })
  }
  t.match((await save({ state: 'S31' })).json.__ERROR[0].message, /"S20", … is expected$/)
  const several = await save([{ mood: 'odd' }, { mood: 'happy' }])
  t.match(several.json.__ENTITIES, [{ __ERROR: [{ attribute: 'mood' }, {}] }, { mood: 'happy' }])

  const { attributes } = (await server.get('/$catalog/Person')).json
  t.match(
    attributes.filter(({ choices }: { choices?: unknown }) => choices),
    [{ name: 'mood', choices: CHOICES }, { name: 'level', choices: ['low', 'high'] }, { name: 'state' }],
  )
  const { schemas } = (await server.get('/$openapi')).json.components
  t.same(schemas.Person.properties.mood, { type: ['string', 'null'], enum: [...CHOICES, null] })
  t.same(schemas.Person.properties.level, { type: 'string', enum: ['low', 'high'] })
  t.match(schemas['Person.save'], {
    properties: { mood: { enum: [...CHOICES, null] }, level: { enum: ['low', 'high'], default: 'low' } },
    example: { mood: 'sad' },
  })
  const { text } = await server.get('/$client')
  t.match(text, "mood: 'sad' | 'so so' | 'happy' | null")
  t.match(text, "level: 'low' | 'high' | null")
  t.match(text, "mood?: 'sad' | 'so so' | 'happy' | null")
})
