import { loadConfig } from '../../config/load-config.ts'
import { openEngine } from '../../engine/index.ts'
import { engineOptions } from '../../kernel/main.ts'
const config = loadConfig({ file: process.argv[2] + '/tesser.config.json', env: {}, flags: {} })
const engine = await openEngine({ ...engineOptions(config), pool: { threads: 1, inlineCostMs: 1e6 }, memoryBytes: process.argv[3] === '0' ? 0 : 4 * 2 ** 30, onInternalError: (e: string) => console.log(e) } as never)
await engine.memoryFilled()
const one = (i: number, stampless: object) => engine.write({ kind: 'save', dataClass: 'Employee', body: Buffer.from(JSON.stringify(stampless)), mode: 'update', atomic: false, trusted: true })
let n = 0
const stamps = new Map<number, number>()
const cpu = process.cpuUsage(), start = performance.now()
const rounds = 300
for (let r = 0; r < rounds; r++) {
  await Promise.all(Array.from({ length: 64 }, async () => {
    const id = 1 + (n++ * 7919) % 1_000_000
    const result = await one(id, { __KEY: String(id), __STAMP: stamps.get(id) ?? 1, salary: n % 100000 })
    if (result.entities[0]!.failure) throw new Error(JSON.stringify(result.entities[0]!.failure))
  }))
}
const wall = performance.now() - start, used = process.cpuUsage(cpu)
console.log('updates/s', (rounds * 64 / wall * 1000).toFixed(0), 'ms per 64:', (wall / rounds).toFixed(2), 'cpu user', (used.user / 1000 / rounds).toFixed(2), 'sys', (used.system / 1000 / rounds).toFixed(2))
const rows = Array.from({ length: 10000 }, (_, i) => ({ firstName: 'Alma', lastName: 'Badiku', salary: i, birthDate: '1980-01-01T10:00:00.000Z', hired: '2001-01-01', woman: true, department: 'sales north', email: `x${i}${n}@example.com`, notes: 'about above after again along ' + i, employerID: 1 + i % 10000 }))
for (let k = 0; k < 3; k++) { const s = performance.now(), c = process.cpuUsage(); await one(0, rows as never); console.log('bulk 10k', (performance.now() - s).toFixed(0), 'ms; cpu', (process.cpuUsage(c).user / 1000).toFixed(0)) }
await engine.close()
