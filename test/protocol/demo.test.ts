import { readFileSync } from 'node:fs'
import t from 'tap'
import { request } from 'undici'
import { startDemo } from '../support/demo-server.ts'

interface Sample {
  title: string
  url: string
  count?: number
  first?: object
  value?: unknown
}

t.test('the demo answers its sample questions as its data says', async t => {
  const server = await startDemo(t)
  for (const { title, url, count, first, value } of JSON.parse(
    readFileSync('config/demo/samples.json', 'utf8'),
  ) as Sample[]) {
    const answer = await request(encodeURI(`${server.url}/rest${url}`))
    const json = (await answer.body.json()) as { __COUNT?: number; __ENTITIES?: object[] }
    t.equal(answer.statusCode, 200, title)
    if (count !== undefined) t.equal(json.__COUNT ?? (json as unknown as object[]).length, count, title)
    if (first) t.match(json.__ENTITIES?.[0] ?? (json as unknown as object[])[0] ?? json, first, title)
    if (value !== undefined) t.match(json, value as object, title)
  }
})
