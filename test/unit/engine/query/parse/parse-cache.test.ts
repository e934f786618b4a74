import t from 'tap'
import { cachedParser } from '../../../../../engine/query/parse/parse-cache.ts'

/** A parser that records the texts that it parses. */
function recorder() {
  const asked: string[] = []
  return {
    asked,
    parse: (text: string) => {
      asked.push(text)
      if (text === 'bad') throw new Error('bad')
      return { text }
    },
  }
}

t.test('a text is parsed once and its tree is shared', async t => {
  const { asked, parse } = recorder()
  const cached = cachedParser(parse, { entries: 10, sizeBytes: 100_000 })
  t.equal(cached('a'), cached('a'))
  t.strictSame(asked, ['a'])
})

t.test('the least recently used entry is evicted first', async t => {
  const { asked, parse } = recorder()
  const cached = cachedParser(parse, { entries: 2, sizeBytes: 100_000 })
  for (const text of ['a', 'b', 'a', 'c', 'a', 'b']) cached(text)
  t.strictSame(asked, ['a', 'b', 'c', 'b'])
})

t.test('the total size of the texts is bounded too', async t => {
  const { asked, parse } = recorder()
  const cached = cachedParser(parse, { entries: 1_000, sizeBytes: 10_000 })
  for (let i = 0; i < 50; i++) cached(`text ${100 + i}`)
  asked.length = 0
  cached('text 149')
  cached('text 100')
  t.strictSame(asked, ['text 100'])
})

t.test('a very large text is not cached and evicts nothing', async t => {
  const { asked, parse } = recorder()
  const cached = cachedParser(parse, { entries: 10, sizeBytes: 10_000 })
  const giant = 'x'.repeat(50)
  for (const text of ['a', giant, giant, 'a']) cached(text)
  t.strictSame(asked, ['a', giant, giant])
})

t.test('an error is not cached', async t => {
  const { asked, parse } = recorder()
  const cached = cachedParser(parse, { entries: 10, sizeBytes: 10_000 })
  t.throws(() => cached('bad'))
  t.throws(() => cached('bad'))
  t.strictSame(asked, ['bad', 'bad'])
})
