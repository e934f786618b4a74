/** Completions that editors offer in the paths of a generated client. */
import { join } from 'node:path'
import t from 'tap'
import ts from 'typescript'
import { company } from '../support/fixtures/company.ts'
import { writeProject } from '../support/clients/typed-client.ts'
import { clientOf } from './generated-client.ts'

t.test('editors complete paths level by level', async t => {
  const folder = t.testdir()
  const head = "import { createClient } from './client.ts'\nconst db = createClient('/rest')\n"
  const names = ['lastName', 'employer.name', 'manager.lastName']
  const table: [call: string, offered: readonly string[]][] = [
    ["db.Employee.all.select('|')", names],
    ["db.Employee.all.select('ID', 'employer.|')", ['employer.name', 'employer.*']],
    ["db.Employee.all.select('ID', 'employer.staff.manager.|')", ['employer.staff.manager.salary']],
    ["db.Employee.all.orderBy('|')", names],
    ["db.Employee.all.sum('|')", names],
    ["db.Employee.all.expand('|')", ['employer', 'manager', 'directReports']],
    ["db.Employee.get(1, ['|'])", names],
  ]
  writeProject(folder, { 'client.ts': clientOf(company.model), 'calls.ts': '' })
  const { options } = ts.getParsedCommandLineOfConfigFile(
    join(folder, 'tsconfig.json'),
    {},
    { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => {} },
  )!
  const edited = join(folder, 'calls.ts')
  let text = ''
  const service = ts.createLanguageService({
    getScriptFileNames: () => [edited],
    getScriptVersion: file => (file === edited ? text : '1'),
    getScriptSnapshot: file => ts.ScriptSnapshot.fromString(file === edited ? text : (ts.sys.readFile(file) ?? '')),
    getCurrentDirectory: () => folder,
    getCompilationSettings: () => options,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: ts.sys.fileExists,
    readFile: ts.sys.readFile,
  })
  for (const [call, expected] of table) {
    text = head + call.replace('|', '')
    const { entries = [] } = service.getCompletionsAtPosition(edited, (head + call).indexOf('|'), {}) ?? {}
    const offered = entries.map(({ name }) => name)
    t.same(
      expected.filter(each => !offered.includes(each)),
      [],
      call,
    )
  }
})
