import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { loadConfig } from '../../../config/load-config.ts'
import { check } from '../../../kernel/cli/check.ts'
import { ProgressDisplay } from '../../../kernel/cli/progress.ts'
import { company } from '../../support/fixtures/company.ts'
import { startServer, temporaryFolder } from '../../support/test-server.ts'

t.test('tesser check reports its progress for each dataclass', async t => {
  const folder = temporaryFolder(t)
  const server = await startServer(t, company, { folder })
  await server.close()
  const config = { model: 'model.json', data: 'store' }
  writeFileSync(join(folder, 'model.json'), JSON.stringify(company.model))
  writeFileSync(join(folder, 'tesser.config.json'), JSON.stringify(config))
  const told = new Map<string, [done: number, total: number]>()
  const progress = {
    show: (what: string, done: number, total: number) => told.set(what, [done, total]),
    stop() {},
  } as unknown as ProgressDisplay
  const problems: string[] = []
  for await (const problem of check(loadConfig({ env: {}, flags: {}, cwd: folder }), { progress }))
    problems.push(problem)
  t.strictSame(problems, [])
  t.same([...told.keys()].sort(), ['City', 'Company', 'Employee', 'Hidden', 'Tag'])
  t.same(told.get('Employee'), [6, 6])
})

t.test('without a terminal, progress is a line after five seconds, then every ten', t => {
  const { now } = performance
  t.teardown(() => {
    performance.now = now
  })
  let seconds = 0
  performance.now = () => 1e6 + seconds * 1000
  const lines: string[] = []
  const display = new ProgressDisplay({
    isTTY: false,
    write: (line: string) => lines.push(`${seconds}: ${line}`),
  } as unknown as NodeJS.WriteStream)
  for (; seconds < 30; seconds++) display.show('Person', seconds * 10, 300)
  display.stop()
  t.same(lines, [
    '5: Person: 50 of 300 (16 %), about 25 s left\n',
    '15: Person: 150 of 300 (50 %), about 15 s left\n',
    '25: Person: 250 of 300 (83 %), about 5 s left\n',
  ])
  t.end()
})
