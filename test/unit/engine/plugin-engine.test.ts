/** A plugin has the members of `PluginEngine` and no others, also at run time. */
import t from 'tap'
import { type ProtocolError, pluginEngine } from '../../../engine/index.ts'
import { startServer } from '../../support/servers/test-server.ts'
import { modelWith } from '../../support/fixtures/model-with.ts'

const MODEL = modelWith({ Person: {} })

t.test('a plugin reaches no other part of the engine', async t => {
  const { engine } = await startServer(t, { model: MODEL, rows: { Person: [{ ID: 1 }] } })
  const narrow = pluginEngine(engine) as unknown as Record<string, Record<string, unknown>>
  for (const name of ['close', 'prepare', 'parts', 'records', 'permissions', 'rows', 'saves', 'bodies', 'metrics']) {
    t.notOk(name in narrow, name)
  }
  const hidden = {
    entitySets: ['openAny', 'sweep', 'store'],
    jobs: ['options'],
    uploads: ['sweep', 'close', 'limits'],
    binaries: ['options'],
    commits: ['close', 'options'],
    modelChange: ['close', 'options'],
    classes: ['classes', 'jobs'],
  }
  for (const [part, names] of Object.entries(hidden)) {
    for (const name of names) t.notOk(name in narrow[part]!, `${part}.${name}`)
    t.equal(Object.getPrototypeOf(narrow[part]), Object.prototype, part)
  }
  t.throws(() => Object.assign(narrow, { close: () => {} }), TypeError)
})

t.test('its members work on the engine, and show its state as it is now', async t => {
  const { engine } = await startServer(t, { model: MODEL, rows: { Person: [{ ID: 1 }, { ID: 2 }] } })
  const { catalog, entitySets, compute, isWritable } = pluginEngine(engine)
  const request = { dataClass: 'Person', source: { kind: 'all' }, skip: 0, top: 0, output: { form: 'array' } } as const
  t.equal(isWritable, true)
  t.ok(catalog.dataClassesByName.has('Person'))
  t.equal(
    Buffer.from((await compute(request, [], { function: 'count', distinct: false })) as Uint8Array).toString(),
    '2',
  )
  const set = await entitySets.create(request, {})
  t.match(entitySets.uri('Person', set), /^\/rest\/Person\/\$entityset\/[0-9A-F]{32}$/)
})

t.test('a deletion without rights has those of a guest, whatever it selects', async t => {
  const roles = {
    privileges: [{ privilege: 'hr' }],
    permissions: { allowed: [{ applyTo: 'Person', type: 'dataclass', drop: ['hr'] }] },
  }
  const { engine } = await startServer(t, { model: MODEL, rows: { Person: [{ ID: 1 }, { ID: 2 }] } }, { roles })
  const plugin = pluginEngine(engine)
  const request = { dataClass: 'Person', skip: 0, top: 0, output: { form: 'array' } } as const
  for (const source of [{ kind: 'all' }, { kind: 'keys', keys: ['77'] }, { kind: 'keys', keys: [] }] as const) {
    const deleted = plugin.delete({ ...request, source }, { atomic: false, owner: undefined, ifMatch: undefined })
    const error = await deleted.catch((error: ProtocolError) => error)
    t.match(error, { httpStatus: 401, entries: { length: 1, 0: { errCode: 1560 } } }, JSON.stringify(source))
  }
})
