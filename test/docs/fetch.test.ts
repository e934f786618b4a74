/** `plugins/docs/pages/guide/fetch.md`: its blocks run in their order, and print what the page says. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { format } from 'node:util'
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

type Fetch = (address: string, options?: RequestInit) => Promise<Response>

/** Runs all blocks. @returns what they print */
async function run(fetchHere: Fetch): Promise<string[]> {
  const lines: string[] = []
  const console = { log: (...values: unknown[]) => lines.push(format(...values)) }
  await new Function('fetch', 'console', `return (async () => { ${blocks.join('\n')} })()`)(fetchHere, console)
  return lines
}

/** `fetch` of a browser: it keeps cookies, hides them from scripts, and ignores those that scripts send. */
function browserFetch(fetchHere: Fetch): Fetch {
  let cookie = ''
  return async (address, options = {}) => {
    const headers = { ...(options.headers as Record<string, string>), cookie }
    const response = await fetchHere(address, { ...options, headers })
    cookie = response.headers.get('set-cookie')?.split(';')[0] ?? cookie
    const shownHeaders = new Headers(response.headers)
    shownHeaders.delete('set-cookie')
    return Object.defineProperty(response, 'headers', { value: shownHeaders })
  }
}

t.test('the blocks print what the page says', async t => {
  t.ok(blocks.length > 8)
  t.equal(printed.length, blocks.join('').split('console.log').length - 1, 'each says what it prints')
  const users = join(temporaryFolder(t), 'tesser.directory.json')
  const password = await quickHash('correct horse')
  writeFileSync(users, JSON.stringify({ users: [{ name: 'ada', password, privileges: [] }] }))
  const { url } = await startDemo(t, { 'auth-directory-file': users })
  const fetchHere: Fetch = (address, options) => fetch(address.replace('http://127.0.0.1:8080', url), options)
  t.strictSame(await run(fetchHere), printed, 'in Node.js')
  t.strictSame(await run(browserFetch(fetchHere)), printed, 'in a browser')
})
