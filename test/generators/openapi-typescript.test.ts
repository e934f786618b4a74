/** Types that openapi-typescript generates from the OpenAPI document compile, and match the model. */
import { existsSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import ts from 'typescript'
import { startServer } from '../support/test-server.ts'
import { company } from '../support/fixtures/company.ts'
import { declaredPlugin } from '../support/test-plugins.ts'

const GENERATOR = resolve('test/generators/node_modules/openapi-typescript/dist/index.mjs')

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
`

t.test(
  'openapi-typescript',
  { skip: existsSync(GENERATOR) ? false : 'it is not installed: node test/generators/install.mjs' },
  async t => {
    const server = await startServer(t, company, { config: { plugins: [declaredPlugin] } })
    const { json } = await server.get('/$openapi')
    const generator = (await import(pathToFileURL(GENERATOR).href)) as Generator
    const folder = t.testdir({ 'use.ts': USE })
    writeFileSync(join(folder, 'api.ts'), generator.astToString(await generator.default(json)))
    const program = ts.createProgram([join(folder, 'use.ts')], {
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
  },
)
