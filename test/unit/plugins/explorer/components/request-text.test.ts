import { execFileSync } from 'node:child_process'
import t from 'tap'
import {
  asCurl,
  asFetch,
  asQuery,
  shellQuoted,
  urlOf,
} from '../../../../../plugins/explorer/page/components/request-text.ts'
import fc from '../../../../support/runner/fast-check.ts'

const FILTER = `name = 'São Paulo' or name = \\u0022it's $HOME \`x\` 100 %\\u0022`
const read = {
  address: 'http://127.0.0.1:8080/rest/City',
  parameters: {
    $filter: `"${FILTER}"`,
    $orderby: '"name desc"',
    $attributes: 'name,country.name',
    $expand: undefined,
    $params: '[{"vector":[0.5,1],"threshold":null}]',
  },
}
const { $expand: _, ...parameters } = read.parameters
const call = {
  address: 'http://127.0.0.1:8080/rest/City/near',
  parameters: { $method: 'entityset' },
  body: ["it's", 3],
}

/** Words into which a shell splits a command. */
const wordsOf = (command: string): string[] =>
  execFileSync('sh', ['-c', `printf '%s\\0' ${command}`], { encoding: 'utf8' })
    .split('\0')
    .slice(0, -1)

t.test('a shell passes quoted texts unchanged', async t => {
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
  t.same(Object.fromEntries(new URL(address!).searchParams), parameters)
  t.equal(urlOf({ ...read, parameters: { $filter: '' } }), read.address)
})

t.test('a call as curl has its arguments as the body', async t => {
  const words = wordsOf(asCurl(call))
  t.same(words.slice(2), [urlOf(call), '-H', 'Content-Type: application/json', '-d', '["it\'s",3]'])
})

t.test('a request as fetch is JavaScript', async t => {
  const asked: string[] = []
  const fetch = async (address: string, { method = 'GET', body = '' } = {}) => {
    asked.push(`${method} ${address} ${body}`)
    return { json: async () => ({}) }
  }
  for (const each of [read, call]) await new Function('fetch', `return (async () => {${asFetch(each)}})()`)(fetch)
  t.same(asked, [`GET ${urlOf(read)} `, `POST ${urlOf(call)} ["it's",3]`])
})

t.test('a request as $query has the parameters as the body', async t => {
  const words = wordsOf(asQuery(read))
  t.equal(words[2], 'http://127.0.0.1:8080/rest/City/$query')
  t.same(JSON.parse(words.at(-1)!), { ...parameters, $filter: FILTER, $orderby: 'name desc' })
})
