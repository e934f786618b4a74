import { readFileSync } from 'node:fs'
import sharp from 'sharp'
import t from 'tap'
import { request } from 'undici'
import { loadSentenceModel, startDemo } from '../support/servers/demo-server.ts'

interface Sample {
  title: string
  url: string
  count?: number
  first?: object
  value?: unknown
}

interface Country {
  name: string
  flag: { __deferred: { uri: string } }
}

const server = await startDemo(t)

t.test('the demo answers its sample questions as its data says', async t => {
  await loadSentenceModel(server)
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

t.test("a page shows all countries' flags, and shows them again without loading one", async t => {
  const countries = await request(`${server.url}/rest/Country/name,flag?$top=500`)
  const { __ENTITIES } = (await countries.body.json()) as { __ENTITIES: Country[] }
  t.ok(__ENTITIES.length > 190)
  const page = __ENTITIES.map(({ name, flag }) => `<img alt="${name}" src="${flag.__deferred.uri}">`).join('\n')

  const etags = new Map<string, string>()
  const load = async (): Promise<[status: number, format: string | undefined][]> => {
    const images = [...page.matchAll(/src="([^"]+)"/g)].map(async ([, src]) => {
      const url = new URL(src!, server.url)
      // Revalidates cached answers by their tags, like a browser.
      const etag = etags.get(url.href)
      const accept = 'image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8'
      const answer = await request(url, { headers: { accept, ...(etag && { 'if-none-match': etag }) } })
      etags.set(url.href, String(answer.headers.etag))
      const bytes = Buffer.from(await answer.body.arrayBuffer())
      if (answer.statusCode === 304) return [304, undefined] as [number, undefined]
      t.equal(answer.headers['content-type'], 'image/png')
      t.equal(answer.headers['cache-control'], 'private, max-age=31536000, immutable')
      return [answer.statusCode, (await sharp(bytes).metadata()).format] as [number, string]
    })
    return Promise.all(images)
  }
  t.same(
    await load(),
    __ENTITIES.map(() => [200, 'png']),
  )
  t.same(
    await load(),
    __ENTITIES.map(() => [304, undefined]),
  )
})
