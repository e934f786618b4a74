/** Names that mean nothing in an address: parameters without `$`, misspelt ones, keys in place of attributes. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createKey, hashKey } from '../../kernel/auth/directory.ts'
import { staffPlugin } from '../support/plugins/test-plugins.ts'
import { company } from '../support/fixtures/company.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'
import { startServer, usualTransports } from '../support/servers/test-server.ts'

const UUID = '0000000A-0000-0000-0000-00000000000A'

/** Address, message of the refusal. */
const REFUSED: readonly (readonly [path: string, message: RegExp])[] = [
  ['/City?filter="name=Paris"', /^"filter" is not a known parameter; did you mean "\$filter"\?$/],
  ['/City?$top=1&orderby=name', /"orderby".*did you mean "\$orderby"/],
  ['/City?top=1', /"top".*"\$top"/],
  ['/City?%66ilter=x', /"filter"/],
  ['/City(Paris)?attributes=name', /"attributes"/],
  ['/City?method=entityset', /"method".*"\$method"/],
  ['/City/population?compute=sum', /"compute"/],
  ['/Employee/names?filter=ID<3', /"filter"/],
  ['/City/$entityset/0000000000000000000000000000000A?clean=true', /"clean"/],
  ['/$catalog/$all?attributes=name', /"attributes"/],
  ['/City?$filtr=x', /"\$filtr".*"\$filter"/],
]
const ACCEPTED = [
  '/City?_=1700000000000&utm_source=x&timestamp=5&v=2&Filter=x&fields=name',
  '/Employee(1)/photo?$imageformat=best&version=3',
  '/City?$kind=1&kind=1&path=x',
  '/$catalog?_=1',
]

/** Address, proposed address. */
const KEYS: readonly (readonly [path: string, proposal: string])[] = [
  ['/Employee/1', 'Employee(1)'],
  ['/Employee/1,2', 'Employee(1,2)'],
  ['/Employee/-1?$asArray=true', 'Employee(-1)'],
  ['/Employee/1/$entityset/$none', 'Employee(1)'],
  [`/Tag/${UUID}`, `Tag(${UUID})`],
  [`/Tag/${UUID.replaceAll('-', '')}`, `Tag(${UUID.replaceAll('-', '')})`],
]

for (const transport of usualTransports) {
  t.test(`names on ${transport}`, async t => {
    const server = await startServer(t, company, { transport, config: { plugins: [staffPlugin] } })
    for (const [path, message] of REFUSED) {
      const { status, json } = await server.get(path)
      t.match([status, json], [400, { __ERROR: [{ errCode: 1811, message }] }], path)
    }
    for (const path of ACCEPTED) t.equal((await server.get(path)).status, 200, path)
    for (const [path, proposal] of KEYS) {
      const { status, json } = await server.get(path)
      t.match([status, json.__ERROR[0].errCode], [404, 1500], path)
      t.ok(json.__ERROR[0].message.endsWith(`did you mean "${proposal}"?`), json.__ERROR[0].message)
    }
    for (const path of [
      '/Employee/1/lastName',
      '/Employee(1)/employer/name',
      '/Employee/lastName/$entityset/$none/ID',
    ]) {
      const { status, json } = await server.get(path)
      t.match([status, json], [400, { __ERROR: [{ errCode: 1806, message: /two attribute lists/ }] }], path)
    }
    t.notMatch((await server.get('/Employee(1)/2')).text, /Employee\(/, 'an entity has its key')
    t.match((await server.get('/Employee/lastNam')).text, /did you mean \\"lastName\\"/)
    for (const [verb, body] of [
      ['DELETE', undefined],
      ['POST', { name: 'Rome' }],
    ] as const)
      t.equal((await server.send(verb, '/City?filter="name=Paris"', body)).status, 400, verb)
    t.equal((await server.get('/City')).json.__COUNT, 4, 'nothing has changed')
  })
}

const PLUGIN = `import { definePlugin, json } from 'tesser'
export default definePlugin({
  name: 'acme',
  kernel: '^1.0.0',
  register({ service, parameter }) {
    const schema = { type: 'string' }
    const answer = request => json({ top: request.parameter('top') ?? null })
    service('$own', { verbs: ['GET'] }, answer)
    service('$inside', { verbs: ['GET'], administrators: true, operations: { 'GET /': { id: 'acme.inside', doc: 'Inside' } } }, answer)
    parameter('$secretive', { schema, doc: 'Of the operation inside.', on: ['acme.inside'] })
    parameter('$shared', { schema, doc: 'Of several operations.', on: ['acme.inside', 'list'] })
  },
})`

t.test('parameters of administrators are named to administrators alone', async t => {
  const folder = temporaryFolder(t)
  writeFileSync(join(folder, 'index.ts'), PLUGIN)
  const key = createKey()
  const keys = [{ name: 'root', hash: hashKey(key), privileges: ['WebAdmin'] }]
  writeFileSync(join(folder, 'tesser.directory.json'), JSON.stringify({ keys }))
  const roles = { privileges: [{ privilege: 'staff' }] }
  const server = await startServer(t, company, { folder, roles, config: { plugins: [join(folder, 'index.ts')] } })
  const messageOf = async (path: string, headers = {}): Promise<string> =>
    (await server.get(path, headers)).json.__ERROR[0].message
  const admin = { authorization: `Bearer ${key}` }
  const ALL = '/City?$qqqqqqqqqqqqqq=1'
  t.match(await messageOf(ALL), /known are .*\$filter.*\$shared/)
  t.notMatch(await messageOf(ALL), /\$secretive|\$allowLoss|\$full/)
  t.match(await messageOf(ALL, admin), /\$allowLoss.*\$full.*\$secretive.*\$shared/)
  t.notMatch(await messageOf('/City?$secretiv=1'), /\$secretive/, 'no suggestion either')
  t.match(await messageOf('/City?$secretiv=1', admin), /did you mean "\$secretive"/)
  t.strictSame((await server.get('/$own?top=1')).json, { top: '1' }, 'a service of a plugin may have such a name')
})
