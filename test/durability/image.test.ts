import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { openReadStore } from '../../engine/open-read-store.ts'
import { WriterClient } from '../../engine/write/client/writer-client.ts'
import { randomOf } from '../support/base/random.ts'
import { seedOf } from '../support/runner/rounds.ts'
import { picture } from '../support/engine/shared-memory.ts'
import { options, withImages } from './world.ts'

const CYCLES = process.env.TESSER_TEST_LONG ? 12 : 3
const random = randomOf(seedOf(22))

t.test('whatever SIGKILL leaves of images of the memory, the next start has the state of the store', async t => {
  const path = t.testdir()
  const notes: string[] = []
  for (let cycle = 0; cycle < CYCLES; cycle++) {
    const child = fork(fileURLToPath(new URL('kill.child.js', import.meta.url)), [path, String(cycle), 'memory'])
    let reports = 0
    const enough = random.integer(300, 3_300)
    child.on('message', () => {
      if (++reports === enough) child.kill('SIGKILL')
    })
    await once(child, 'exit')

    const memory = withImages().memory!
    const onNote = (text: string) => void notes.push(text)
    // Writes no images itself, so that the next start finds that of the killed process.
    const client = await WriterClient.start({ ...options(path), memory, onNote })
    await client.memoryFilled
    const shared = openReadStore({ ...options(path), cacheBytes: 2 ** 22, memory })
    const plain = openReadStore({ ...options(path), cacheBytes: 2 ** 22 })
    const { dataClasses } = shared.catalog
    const expected = plain.read(snapshot => picture(snapshot, plain.catalog.dataClasses))
    const found = shared.read(snapshot => picture(snapshot, dataClasses))
    t.strictSame(found, expected, `cycle ${cycle}: ${plain.records.globalStamp()} changes, ${notes.at(-1)}`)
    t.ok(readdirSync(path).filter(name => name.endsWith('.image')).length <= 1, 'no half-written file stays')
    await shared.close()
    await plain.close()
    await client.close()
  }
  t.ok(
    notes.some(note => note.includes('comes from its image')),
    `some starts used an image: ${notes}`,
  )
})
