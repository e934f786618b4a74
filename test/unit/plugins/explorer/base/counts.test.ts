import t from 'tap'
import { until } from '../../../../support/base/until.ts'

/** Pending requests for counts, by dataclass. */
const open = new Map<string, (count: number) => void>()
const given: string[] = []
// The page finds its server by the address of its document.
Object.assign(globalThis, {
  document: { baseURI: 'http://localhost/explorer/' },
  fetch: (address: string, { signal }: RequestInit) =>
    new Promise((resolve, reject) => {
      const dataClass = /\/rest\/(\w+)\?/.exec(address)![1]!
      given.push(dataClass)
      open.set(dataClass, count => {
        open.delete(dataClass)
        resolve(new Response(JSON.stringify({ __COUNT: count })))
      })
      signal!.addEventListener('abort', () => {
        open.delete(dataClass)
        reject(signal!.reason)
      })
    }),
})
// `as string`: these modules are of a project with the types of browsers.
const { counts, unwantCount, wantCount } = (await import(
  '../../../../../plugins/explorer/page/base/counts.ts' as string
)) as {
  counts: { value: ReadonlyMap<string, number> }
  wantCount(dataClass: string): void
  unwantCount(dataClass: string): void
}
const { catalog } = (await import('../../../../../plugins/explorer/page/base/catalog.ts' as string)) as {
  catalog: { value: object }
}

t.test('dataclasses in view are counted once, a few at a time', async t => {
  for (const name of ['A', 'B', 'C', 'D', 'E', 'F', 'G', 'A']) wantCount(name)
  t.same([...open.keys()], ['A', 'B', 'C', 'D'])
  unwantCount('F')
  unwantCount('A')
  open.get('B')!(2)
  await until(() => open.has('E'))
  unwantCount('C')
  await until(() => open.has('G'))
  t.same(
    [...open.keys()],
    ['A', 'D', 'E', 'G'],
    'counts that have left the view are cancelled; another place still shows A',
  )
  for (const answer of open.values()) answer(7)
  await until(() => counts.value.size === 5)
  wantCount('B')
  t.same(given, ['A', 'B', 'C', 'D', 'E', 'G'])
})

t.test('another catalog has other counts', async t => {
  given.length = 0
  catalog.value = { dataClasses: [] }
  wantCount('B')
  await until(() => open.size > 0)
  t.ok(given.includes('B'))
  for (let answer = [...open.values()][0]; answer; answer = [...open.values()][0]) {
    answer(3)
    await new Promise(resolve => setImmediate(resolve))
  }
  await until(() => counts.value.get('B') === 3)
})
