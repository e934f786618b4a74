/** `plugins/docs/pages/reference/plugin-api.md` against the declarations of the plugin API. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createTestServer } from '../../kernel/testing.ts'
import { exportsOf, membersOf } from '../support/checks/declarations.ts'
import { codeIn, tablesOf } from '../support/checks/page-tables.ts'
import { followTour, tourOf } from '../support/clients/tour.ts'

const PAGE = 'plugins/docs/pages/reference/plugin-api.md'
const tables = tablesOf(PAGE)
const CLASSES = 'engine/author/declare/author-types.ts'

const SPECS = 'kernel/description.ts'

const LISTS: readonly [heading: string, names: readonly string[]][] = [
  ['Scope', membersOf('kernel/api.ts', 'Scope')],
  [
    'Descriptions',
    [
      ...new Set(
        ['ParameterSpec', 'Accepts', 'ServiceSpec', 'RouteOptions', 'RouteSpec'].flatMap(name =>
          membersOf(SPECS, name),
        ),
      ),
    ],
  ],
  ['Operation of a description', membersOf(SPECS, 'OperationSpec')],
  ['Engine', membersOf('engine/plugin-engine.ts', 'PluginEngine')],
  ['Plugin', membersOf('kernel/api.ts', 'PluginDefinition')],
  ['Store of a task', membersOf('engine/query/tasks/plugin-task.ts', 'TaskStore')],
  ['Selection of a task', membersOf('engine/query/tasks/plugin-task.ts', 'TaskSelection')],
  ['Request', membersOf('kernel/request.ts', 'RestRequest')],
  ['Request at a route', membersOf('kernel/route-request.ts', 'RouteRequest')],
  ['Read request', membersOf('engine/query/contract/request.ts', 'ReadRequest')],
  ['HTTP request', membersOf('kernel/transport/transport.ts', 'TransportRequest')],
  ['Reply', membersOf('kernel/transport/transport.ts', 'TransportResponse')],
  ['Exports of `tesser`', exportsOf('kernel/api.ts')],
  ['Exports of `tesser/classes`', exportsOf('engine/author/data-api/tesser-classes.d.ts')],
  ['Options of `@calculated`', membersOf('engine/author/declare/calculated-options.ts', 'CalculatedOptions')],
  [
    'Options of `@job`',
    [...membersOf('engine/author/declare/job-options.ts', 'JobOptions'), ...membersOf(CLASSES, 'EnqueueOptions')],
  ],
  ['Options of `@exposed` and `@onHTTPGet`', membersOf('engine/author/declare/decorators.ts', 'FunctionOptions')],
  ['A dataclass of the data API', membersOf(CLASSES, 'BaseDataClass')],
  ['A selection of the data API', membersOf(CLASSES, 'BaseSelection')],
  ['An entity of the data API', membersOf(CLASSES, 'BaseEntity')],
  ['The datastore of the data API', membersOf(CLASSES, 'BaseDataStore')],
  ['`Session` of the data API', membersOf(CLASSES, 'CallSession')],
  ['`request` of the data API', membersOf(CLASSES, 'CallRequest')],
  ['Status of a save or a drop', membersOf(CLASSES, 'Status')],
  ['Exports of `tesser/testing`', exportsOf('kernel/testing.ts')],
  ['Options of `createTestServer`', membersOf('kernel/open-test-server.ts', 'TestServerOptions')],
  [
    '`TestServer`',
    [...new Set([...membersOf('kernel/main.ts', 'Server'), ...membersOf('kernel/testing.ts', 'TestServer')])].filter(
      name => !['stop', 'renewCertificate'].includes(name),
    ),
  ],
  ['`TestClient`', membersOf('kernel/testing.ts', 'TestClient')],
  ['`TestAnswer`', membersOf('kernel/testing.ts', 'TestAnswer')],
]

for (const [heading, names] of LISTS) {
  t.test(`the list "${heading}" matches the code`, async t => {
    const rows = tables.get(heading) ?? []
    const listed = rows.flatMap(row => codeIn(row.member ?? row.name ?? row.option ?? ''))
    t.strictSame([...listed].sort(), [...names].sort())
    for (const row of rows) t.ok(row.meaning!.length > 5, listed.join(' '))
  })
}

t.test('the plugin of the page answers as the page says', async t => {
  const [, source] = /^```ts\n(.*?)^```$/ms.exec(readFileSync(PAGE, 'utf8'))!
  const folder = t.testdir({ 'index.ts': source! })
  const server = await createTestServer({
    model: { name: 'library', dataClasses: {} },
    plugins: [join(folder, 'index.ts')],
  })
  t.teardown(() => server.close())
  const tour = tourOf(PAGE)
  t.equal(tour.length, 8)
  await followTour(t, server.url, tour)
})
