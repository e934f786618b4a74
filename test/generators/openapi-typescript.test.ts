/** Types that openapi-typescript generates from the OpenAPI document compile, match the model, and serve openapi-fetch. */
import { existsSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import ts from 'typescript'
import { startServer } from '../support/servers/test-server.ts'
import { company } from '../support/fixtures/company.ts'
import { declaredPlugin } from '../support/plugins/test-plugins.ts'

const PACKAGES = resolve('test/generators/node_modules')
const GENERATOR = join(PACKAGES, 'openapi-typescript/dist/index.mjs')

interface Generator {
  default(document: object): Promise<ts.Node[]>
  astToString(nodes: ts.Node[]): string
}

/** Lines with a mistake are marked: TypeScript also reports a mark without a mistake. */
const USE = `import type { components, paths } from './api.ts'
type Employee = components['schemas']['Employee']
export const name = (employee: Employee): string | null | undefined => employee.lastName
// @ts-expect-error a text
export const wrong = (employee: Employee): number | undefined => employee.lastName
// @ts-expect-error no such attribute
export const none = (employee: Employee) => employee.lastNam
export const saved: components['schemas']['Employee.save'] = { lastName: 'Lovelace', salary: 1, employer: { __KEY: 1 } }
// @ts-expect-error a number
export const unsaved: components['schemas']['Employee.save'] = { salary: true }
type Earning = paths['/Employee/earning']['post']
type Arguments = NonNullable<Earning['requestBody']>['content']['application/json']
export const given: Arguments = [1, 2, 'up']
// @ts-expect-error the first one is a number
export const notGiven: Arguments = ['1', 2, 'up']
type Listed = paths['/Employee']['get']['parameters']['query']
export const query: Listed = { $filter: 'salary > 1', $top: 3 }
export const named = (employee: Employee): string => employee.lastName ?? ''
// @ts-expect-error not mandatory
export const first = (employee: Employee): string | undefined => employee.firstName
type Company = components['schemas']['Company.save']
export const office: Company = { name: 'Acme', info: { city: 'Paris' } }
`

/** A client that is compiled with these types, and run. */
const CLIENT = `import createClient from 'openapi-fetch'
import type { paths } from './api.ts'
export async function use(baseUrl: string): Promise<unknown[]> {
  const api = createClient<paths>({ baseUrl })
  const body = { $filter: 'salary > :1', $params: [50_000], $orderby: 'salary desc', $top: 1, $attributes: 'ID,lastName' }
  const { data, error } = await api.POST('/Employee/$query', { body })
  if (error) throw new Error(error.__ERROR[0]?.message)
  const key: number = data.__ENTITIES[0]?.ID ?? 0
  // @ts-expect-error a text
  const wrong = await api.POST('/Employee/$query', { body: { $filter: 1 } })
  const query = { $filter: 'lastName = :1', $params: JSON.stringify(['lovelace']) }
  const list = await api.GET('/Employee', { params: { query } })
  const names: string[] = list.data?.__ENTITIES.map(({ lastName }) => lastName ?? '') ?? []
  const one = await api.GET('/Employee({key})', { params: { path: { key } } })
  const saved = await api.POST('/Company', { params: { query: { $refresh: true } }, body: { name: 'New', info: { a: 1 } } })
  return [data.__COUNT, key, wrong.response.status, names, one.data?.lastName, saved.response.status]
}
`

t.test(
  'openapi-typescript',
  { skip: existsSync(GENERATOR) ? false : 'it is not installed: node test/generators/install.mjs' },
  async t => {
    const server = await startServer(t, company, { config: { plugins: [declaredPlugin] } })
    const { json } = await server.get('/$openapi')
    const generator = (await import(pathToFileURL(GENERATOR).href)) as Generator
    const folder = t.testdir({
      'use.ts': USE,
      'client.ts': CLIENT,
      node_modules: t.fixture('symlink', PACKAGES),
      'package.json': '{"type":"module"}',
    })
    writeFileSync(join(folder, 'api.ts'), generator.astToString(await generator.default(json)))
    const program = ts.createProgram([join(folder, 'use.ts'), join(folder, 'client.ts')], {
      noEmit: true,
      strict: true,
      allowImportingTsExtensions: true,
      types: [],
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
    })
    const problems = ts.getPreEmitDiagnostics(program).map(({ messageText, file, start }) => {
      const line = file && start !== undefined ? file.getLineAndCharacterOfPosition(start).line + 1 : 0
      return `${file?.fileName.split('/').at(-1)}:${line} ${ts.flattenDiagnosticMessageText(messageText, ' ')}`
    })
    t.same(problems, [])
    const { outputText } = ts.transpileModule(CLIENT, { compilerOptions: { module: ts.ModuleKind.ESNext } })
    writeFileSync(join(folder, 'client.js'), outputText)
    const client = (await import(pathToFileURL(join(folder, 'client.js')).href)) as {
      use(baseUrl: string): Promise<unknown[]>
    }
    t.same(await client.use(`${server.url}/rest`), [2, 4, 404, ['Lovelace'], 'Hopper', 200])
  },
)
