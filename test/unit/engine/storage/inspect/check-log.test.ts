import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openEnvironment } from '../../../../../engine/storage/environment.ts'
import { inspectStore } from '../../../../../engine/storage/inspect/inspect-store.ts'
import { openLogged } from '../../../../support/engine/logged-store.ts'
import { randomOf } from '../../../../support/base/random.ts'
import { ISO } from '../../../../support/engine/test-store.ts'

const MAP = { mapSizeBytes: 2 ** 30 }
const KEEP_ALL = { keepBytes: 1e12, keepMs: 1e12 }

async function problems(path: string): Promise<string[]> {
  const found: string[] = []
  for await (const { text } of inspectStore({ path, ...MAP, model: undefined, wire: ISO, allowLoss: false })) {
    // The headers of the sets of this test are not those of the server.
    if (!text.startsWith('entity set')) found.push(text)
  }
  return found
}

t.test('a check compares the store with its log', async t => {
  const path = join(t.testdir(), 'store')
  const store = await openLogged(path, KEEP_ALL)
  store.write(randomOf(1), 150)
  t.same(await problems(path), [], 'while a server uses it')
  await store.close()
  t.same(await problems(path), [], 'when it is closed')
  const environment = openEnvironment({ path, ...MAP })
  const [key] = [...environment.rows.getKeys({ limit: 1 })] as [Buffer]
  const row = environment.rows.get(key)!
  const changed = Buffer.from(row)
  changed[changed.length - 1]! ^= 1
  environment.rows.putSync(key, changed)
  await environment.close()
  t.match((await problems(path)).at(-1), new RegExp(`row ${key.readUInt32BE(2)}: is not as the log has it`))

  const again = openEnvironment({ path, ...MAP })
  again.rows.removeSync(key)
  await again.close()
  t.match((await problems(path)).at(-1), /row \d+: is missing/)

  const restored = openEnvironment({ path, ...MAP })
  restored.rows.putSync(key, row)
  await restored.close()
  const files = readdirSync(join(path, 'log')).map(name => join(path, 'log', name))
  const [first] = files as [string]
  const bytes = readFileSync(first)
  writeFileSync(first, bytes.with(100, bytes[100]! ^ 1))
  t.match(await problems(path), [/^the log of the store, .*0001\.log, is damaged at byte 64, in record 1/])
  rmSync(first)
  t.same(await problems(path), [], 'records that no start needs may be removed')
})

for (const [kept, options] of [
  ['', {}],
  [', though its files are kept', KEEP_ALL],
] as const) {
  t.test(`a store that was used without its log is not compared with it${kept}`, async t => {
    const path = join(t.testdir(), 'store')
    const store = await openLogged(path, options)
    store.write(randomOf(1), 30)
    await store.close()
    const other = await openLogged(path, 'off')
    other.write(randomOf(2), 20)
    await other.close()
    t.same(await problems(path), [], 'when it was used without its log')
    const third = await openLogged(path, options)
    third.write(randomOf(3), 60)
    await third.close()
    t.same(await problems(path), [], 'and with it again')
  })
}
