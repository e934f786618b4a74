/** A typed client compiles with the oldest version of TypeScript that its manual names. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import t from 'tap'
import { startServer } from '../support/servers/test-server.ts'
import { company } from '../support/fixtures/company.ts'
import { writeProject } from '../support/clients/typed-client.ts'

const OLDEST = /TypeScript (\d+\.\d+) or later/.exec(
  readFileSync('plugins/docs/pages/guide/typed-clients.md', 'utf8'),
)?.[1]
const COMPILER = resolve(`test/generators/node_modules/typescript-${OLDEST}/bin/tsc`)

const USE = `import { createClient } from './client.ts'
export const names = async (): Promise<string[]> => {
  const rows = await createClient('/rest').Employee.query\`salary > \${1}\`.select('lastName', 'employer.name').list()
  // @ts-expect-error no such attribute
  rows[0]?.employer?.nam
  return rows.map(({ lastName, employer }) => \`\${lastName}, \${employer?.name}\`)
}
`

t.test(
  `TypeScript ${OLDEST}`,
  { skip: existsSync(COMPILER) ? false : 'it is not installed: node test/generators/install.mjs' },
  async t => {
    const server = await startServer(t, company)
    const folder = t.testdir()
    const files = { 'client.ts': (await server.get('/$client')).text, 'use.ts': USE }
    writeProject(folder, files, { erasableSyntaxOnly: undefined })
    const { status, stdout } = spawnSync(process.execPath, [COMPILER, '-p', folder], { encoding: 'utf8' })
    t.strictSame({ status, stdout }, { status: 0, stdout: '' })
  },
)
