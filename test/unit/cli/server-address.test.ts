import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { loadConfig } from '../../../config/load-config.ts'
import { serverAddress } from '../../../kernel/cli/server-address.ts'
import { runTesser } from '../../support/commands/author-package.ts'

t.test('addresses of a server', async t => {
  const config = (flags: Record<string, string> = {}) => loadConfig({ env: {}, flags, cwd: '/' })
  for (const [given, expected] of [
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
    ['https://example.com/data/rest/', 'https://example.com/data'],
    ['https://example.com/mcp', 'https://example.com'],
    ['https://example.com:81//rest//', 'https://example.com:81'],
    ['HTTP://Example.com/?x#y', 'http://example.com'],
  ] as const) {
    t.equal(serverAddress(given, config()), expected)
  }
  t.equal(serverAddress(undefined, config()), 'http://127.0.0.1:8080')
  for (const host of ['0.0.0.0', '::', '0:0:0:0:0:0:0:0']) {
    t.equal(serverAddress(undefined, config({ host, port: '9' })), 'http://localhost:9', host)
  }
  t.equal(serverAddress(undefined, config({ host: '::1', 'server-base-path': '/data' })), 'http://[::1]:8080/data')
  for (const wrong of ['nowhere', 'localhost:8080', 'ftp://a.example', '']) {
    t.throws(() => serverAddress(wrong, config()), {
      name: 'InputError',
      message: `--url: ${JSON.stringify(wrong)} is not`,
    })
  }
  t.throws(() => serverAddress('http://ada:secret@a.example', config()), {
    message: /^--url: the address has a user or a password; (?!.*secret)/,
  })
})

t.test('every command takes the address of a server with and without /rest', async t => {
  let paths: string[] = []
  const server = createServer(({ url }, response) => {
    paths.push(url!.split('?')[0]!)
    response.writeHead(404).end()
  }).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/data`
  const folder = t.testdir({ 'p.csv': 'name\nAda\n' })
  const askedBy = async (args: readonly string[]): Promise<string[]> => {
    paths = []
    await runTesser(folder, ...args)
    return paths
  }
  for (const [path, ...args] of [
    ['/data/rest/$client', 'client', '--url'],
    ['/data/rest/$import/Person', 'import', 'p.csv', '--into', 'Person', '--url'],
    ['/data/rest/$catalog/$all', 'export', 'Person', '--url'],
    ['/data/rest/$jobs', 'jobs', 'list', '--url'],
    ['/data/rest/$migrate', 'migrate', '--url'],
    ['/data/rest/$catalog/$all', 'clone', '--model', 'm.json', '--data', 'd'],
  ] as const) {
    for (const form of [url, `${url}/rest`, `${url}/rest/`]) {
      t.strictSame((await askedBy([...args, form])).slice(0, 1), [path], `${args[0]} ${form.slice(url.length)}`)
    }
  }
})
