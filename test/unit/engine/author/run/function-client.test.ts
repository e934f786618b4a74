/** Deadlines of saves and deletions with code: the time of one function for each MiB of a body and each 10,000 entities. */
import t from 'tap'
import { FunctionClient } from '../../../../../engine/author/run/function-client.ts'
import type { RunOptions } from '../../../../../engine/author/run/pending-call.ts'
import { FUNCTIONS } from '../../../../../engine/engine-options.ts'
import { partsOf } from '../../../../../engine/write/body/body-outline.ts'
import type { SaveRequest } from '../../../../../engine/write/contract/requests.ts'

const DEADLINE_MS = 5_000

function clientOf(): { client: FunctionClient; deadlines: (number | undefined)[] } {
  const deadlines: (number | undefined)[] = []
  const run = (_task: unknown, { deadlineMs }: RunOptions) => {
    deadlines.push(deadlineMs)
    return Promise.resolve({ examined: 0, saved: {}, dropped: {} })
  }
  const options = { ...FUNCTIONS, deadlineMs: DEADLINE_MS, modules: [], tasks: [], dataClasses: undefined }
  const client = new FunctionClient(options, () => {})
  Object.assign(client, { functions: { run } })
  return { client, deadlines }
}

function saving(text: string): SaveRequest {
  const body = Buffer.from(text)
  const parts = partsOf(body)
  return { kind: 'save', dataClass: 'Note', body, mode: 'update', atomic: false, ...(parts && { parts }) }
}

const list = (element: string, count: number): string => `[${Array(count).fill(element).join()}]`

for (const [name, body, functions] of [
  ['one entity', '{"title":"a"}', 1],
  ['a few', list('{}', 100), 1],
  ['exactly 10,000', list(`{"title":"${'x'.repeat(30)}"}`, 10_000), 1],
  ['one more', list(`{"title":"${'x'.repeat(30)}"}`, 10_001), 2],
  ['many small ones', list('{}', 100_000), 10],
  ['those of an object', `{"__ENTITIES":${list('{}', 100_000)}}`, 10],
  ['one of 3 MiB', `{"title":"${'x'.repeat(3 * 2 ** 20)}"}`, 4],
  ['bytes count where they are more', list(`{"title":"${'x'.repeat(3_000)}"}`, 1_000), 3],
] as const)
  t.test(`a save of ${name}`, async t => {
    const { client, deadlines } = clientOf()
    await client.save(saving(body))
    t.same(deadlines, [functions * DEADLINE_MS])
  })

t.test('a deletion', async t => {
  const { client, deadlines } = clientOf()
  for (const count of [1, 10_000, 10_001, 95_000]) {
    await client.drop({ kind: 'delete', dataClass: 'Note', rowIds: new Uint32Array(count), atomic: false } as never)
  }
  t.same(
    deadlines,
    [1, 1, 2, 10].map(functions => functions * DEADLINE_MS),
  )
})
