import { loadConfig } from '../../config/load-config.ts'
import { openEngine } from '../../engine/index.ts'
import { engineOptions } from '../../kernel/main.ts'
import { parsePathList } from '../../engine/query/parse/parse-path-list.ts'
const config = loadConfig({ file: process.argv[2] + '/tesser.config.json', env: {}, flags: {} })
const t0 = performance.now()
const engine = await openEngine({ ...engineOptions(config), pool: { threads: 1, inlineCostMs: 1e6 }, memoryBytes: process.argv[3] === '0' ? 0 : 4 * 2 ** 30, onInternalError: (e: string) => console.log(e) } as never)
console.log('open', performance.now() - t0)
await engine.memoryFilled()
console.log('filled', performance.now() - t0)
const read = (part: object) => engine.read({ dataClass: 'Employee', source: { kind: 'all' }, skip: 0, top: 100, output: { form: 'collection' }, ...part } as never)
const only = process.argv[4]
const bench = async (name: string, run: (i: number) => unknown, n: number) => {
  if (only && !name.includes(only)) return
  for (let i = 0; i < Math.max(2, n / 10); i++) await run(i)
  const cpu = process.cpuUsage()
  const start = performance.now()
  for (let i = 0; i < n; i++) await run(i)
  const wall = performance.now() - start
  console.log(name.padEnd(30), (wall / n * 1000).toFixed(1).padStart(10), 'µs wall', (process.cpuUsage(cpu).user / n).toFixed(1).padStart(10), 'µs cpu')
}
await bench('read one', i => read({ source: { kind: 'keys', keys: [String(1 + (i * 7919) % 1e6)] }, output: { form: 'entity' } }), 20000)
await bench('first page', i => read({ skip: (i % 50) * 100 }), 5000)
await bench('page deep', i => read({ skip: 500000 + (i % 50) * 100 }), 500)
await bench('indexed equality', i => read({ filter: `lastName = :1`, params: { positional: [['Badiku', 'Badika', 'Bodiku', 'Cadiku', 'Cadiko'][i % 5]], named: new Map() }, }), 5000)
await bench('begins with', i => read({ filter: `lastName begin :1`, params: { positional: [['badik', 'bodik', 'cadik', 'didik', 'fadik'][i % 5]], named: new Map() }, }), 2000)
await bench('range sorted', i => read({ filter: `salary > :1 and salary < :2`, params: { positional: [20000 + i * 10, 30000 + i * 10], named: new Map() }, orderBy: 'birthDate' }), 50)
await bench('range sorted text', i => read({ filter: `salary > :1 and salary < :2`, params: { positional: [20000 + i * 10, 30000 + i * 10], named: new Map() }, orderBy: 'lastName' }), 20)
await bench('sort all text', i => read({ orderBy: 'lastName' }), 5)
await bench('relation', i => read({ filter: `employer.name = :1`, params: { positional: ['x'], named: new Map() }, }), 200)
await bench('email contains', i => read({ filter: `email = :1`, params: { positional: ['@' + (i % 9) + 'a@'], named: new Map() }, }), 5)
await bench('department eq', i => read({ filter: `department = :1`, params: { positional: ['sales north'], named: new Map() }, skip: i }), 50)
await bench('compute all salary', () => engine.compute({ dataClass: 'Employee', source: { kind: 'all' }, skip: 0, top: 100, output: { form: 'collection' } } as never, parsePathList('salary'), { function: 'all', distinct: false }), 50)
await bench('distinct lastName', () => engine.distinct({ dataClass: 'Employee', source: { kind: 'all' }, skip: 0, top: 100, output: { form: 'collection' } } as never, parsePathList('lastName')), 5)
await engine.close()
