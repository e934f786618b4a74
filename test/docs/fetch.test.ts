/** `plugins/docs/pages/guide/fetch.md`: its blocks run in their order, and print what the page says. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { format } from 'node:util'
import sharp from 'sharp'
import t from 'tap'
import { quickHash } from '../support/base/password.ts'
import { startDemo } from '../support/servers/demo-server.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'

const blocks = [...readFileSync('plugins/docs/pages/guide/fetch.md', 'utf8').matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(
  ([, code]) => code!,
)
const printed = blocks.flatMap(code =>
  [...code.matchAll(/^ *console\.log.*\n(?:\}\n)?\/\/ (.*)$/gm)].map(([, text]) => text!),
)

t.test('the blocks print what the page says', async t => {
  t.ok(blocks.length > 8)
  t.equal(printed.length, blocks.join('').split('console.log').length - 1, 'each says what it prints')
  const users = join(temporaryFolder(t), 'tesser.directory.json')
  const password = await quickHash('correct horse')
  writeFileSync(users, JSON.stringify({ users: [{ name: 'ada', password, privileges: [] }] }))
  const { url } = await startDemo(t, { 'auth-directory-file': users })
  const png = await sharp({ create: { width: 30, height: 20, channels: 3, background: 'red' } })
    .png()
    .toBuffer()

  const lines: string[] = []
  const console = { log: (...values: unknown[]) => lines.push(format(...values)) }
  const document = {
    querySelector: () => ({ files: [new File([new Uint8Array(png)], 'flag.png', { type: 'image/png' })] }),
  }
  // A browser keeps cookies.
  let cookie = ''
  const fetchHere = async (address: string, options: RequestInit = {}): Promise<Response> => {
    const headers = { ...(options.headers as Record<string, string>), cookie }
    const response = await fetch(address.replace('http://127.0.0.1:8080', url), { ...options, headers })
    cookie = response.headers.get('set-cookie')?.split(';')[0] ?? cookie
    return response
  }
  const run = new Function('fetch', 'document', 'console', `return (async () => { ${blocks.join('\n')} })()`)
  await run(fetchHere, document, console)
  t.strictSame(lines, printed)
})
