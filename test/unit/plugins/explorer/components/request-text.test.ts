import { execFileSync } from 'node:child_process'
import t from 'tap'
import {
  asCurl,
  asFetch,
  asQuery,
  shellQuoted,
  urlOf,
} from '../../../../../plugins/explorer/page/components/request-text.ts'
import fc from '../../../../support/fast-check.ts'

const read = {
  address: 'http://127.0.0.1:8080/rest/City',
  filter: `name = 'São Paulo' or name = \\u0022it's $HOME \`x\` 100 %\\u0022`,
  order: 'name desc',
}

/** The words that a shell makes of a command. */
const wordsOf = (command: string): string[] =>
  execFileSync('sh', ['-c', `printf '%s\\0' ${command}`], { encoding: 'utf8' })
    .split('\0')
    .slice(0, -1)

t.test('a shell hands quoted texts on as they are', async t => {
  const texts = fc.sample(
    fc.array(fc.string({ unit: fc.constantFrom("'", '"', '$', '`', '\\', '!', ' ', '\n', 'ß', '😀', '%', '*', '~') }), {
      minLength: 1,
    }),
    20,
  )
  for (const each of texts) t.same(wordsOf(each.map(shellQuoted).join(' ')), each)
})

t.test('a read as curl has the address and the parameters', async t => {
  const [program, flag, address] = wordsOf(asCurl(read))
  t.same([program, flag], ['curl', '-g'])
  t.equal(address, urlOf(read))
  t.same(Object.fromEntries(new URL(address!).searchParams), {
    $filter: `"${read.filter}"`,
    $orderby: `"${read.order}"`,
  })
  t.equal(urlOf({ ...read, filter: '', order: '' }), read.address)
})

t.test('as fetch it is JavaScript', async t => {
  const asked: string[] = []
  const fetch = async (address: string) => {
    asked.push(address)
    return { json: async () => ({}) }
  }
  await new Function('fetch', `return (async () => {${asFetch(read)}})()`)(fetch)
  t.same(asked, [urlOf(read)])
})

t.test('as $query the parameters are the body', async t => {
  const words = wordsOf(asQuery(read))
  t.equal(words[2], 'http://127.0.0.1:8080/rest/City/$query')
  t.same(JSON.parse(words.at(-1)!), { $filter: read.filter, $orderby: read.order })
})
