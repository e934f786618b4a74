import t from 'tap'
import { company } from '../support/fixtures/company.ts'
import { hostileRequests } from '../support/clients/hostile-requests.ts'
import { exchangeRaw } from '../support/clients/raw-connection.ts'
import { startServer, transports } from '../support/servers/test-server.ts'

const CLIENT_ENDS = { refused: 'server', ended: 'client', reset: 'reset' } as const

for (const transport of transports) {
  t.test(`hostile requests against the whole server on ${transport}`, async t => {
    const server = await startServer(t, company, {
      transport,
      config: { server: { bodyBytes: 64 * 1024, allowedHosts: ['*'] } },
    })
    for (const { name, send, outcome } of hostileRequests) {
      const { statuses } = await exchangeRaw(server.port, send, CLIENT_ENDS[outcome])
      t.notOk(statuses.includes(500), `${name}: no internal error`)
      t.equal((await server.get('/City(Paris)')).status, 200, `${name}: the next request is served`)
    }
  })

  t.test(`hostile addresses and bodies on ${transport}`, async t => {
    const server = await startServer(t, company, { transport, config: { server: { bodyBytes: 1024 * 1024 } } })
    const before = (await server.get('/City')).json

    const refusedPaths: (readonly [string, string, number])[] = [
      ['a filter of 20,000 brackets', `/Employee?$filter="${'('.repeat(20_000)}"`, 400],
      ['3,000 conditions', `/Employee?$filter="${Array(3_000).fill('ID=1').join('|')}"`, 400],
      ['a path of 200 steps', `/Employee?$filter="${Array(200).fill('manager').join('.')}=1"`, 400],
      ['an endless expansion', `/Employee?$expand=${Array(50).fill('manager').join('.')}`, 400],
      ['params that are nested deeply', `/Employee?$filter="ID=:1"&$params=${'['.repeat(5_000)}`, 400],
      ['params with __proto__', `/Employee?$filter="ID=:a"&$params={"__proto__":{"a":1}}`, 400],
      ['a placeholder named like an inherited property', `/Employee?$filter="ID=:constructor"&$params={"x":1}`, 400],
      ['a dataclass named like an inherited property', '/constructor', 404],
      ['__proto__ as a dataclass', '/__proto__', 404],
      ['an attribute named like an inherited property', '/Employee/toString', 404],
      ['__proto__ in a filter', '/Employee?$filter="__proto__=1"', 404],
      ['a path to the file system', '/..%2F..%2Fetc%2Fpasswd', 404],
      ['a NUL in a name', '/Employee%00', 404],
      // The older build closes the connection when a long head arrives in several packets.
      ...(transport === 'uws-node20' ? [] : ([['a long head', `/${'a'.repeat(70_000)}`, 431]] as const)),
      ['half a surrogate pair', '/%ED%A0%80', 400],
      ['a percent sign alone', '/Employee?$filter=%', 400],
    ]
    for (const [name, path, status] of refusedPaths) {
      const answer = await server.get(path.replaceAll('[', '%5B').replaceAll('"', '%22'))
      t.equal(answer.status, status, `${name}: ${answer.text.slice(0, 200)}`)
      t.ok(answer.json.__ERROR[0].message, `${name}: has a message`)
      t.notMatch(answer.text, /\bat .*\.[jt]s:\d+/, `${name}: shows no stack`)
    }

    const refusedBodies: [string, string | Uint8Array, number][] = [
      ['no JSON', '{"name":', 400],
      ['bad UTF-8', Uint8Array.of(0x22, 0xff, 0x22), 400],
      ['JSON of 100,000 brackets', '['.repeat(100_000), 400],
      ['__proto__', '{"name":"x","__proto__":{"polluted":true}}', 400],
      ['a constructor with a prototype', '{"name":"x","constructor":{"prototype":{"polluted":true}}}', 400],
      ['more than the limit', `"${'x'.repeat(2_000_000)}"`, 413],
      ['a number', '1', 400],
      ['null', 'null', 400],
      ['a list of numbers', '[1]', 400],
    ]
    for (const [name, body, status] of refusedBodies) {
      const answer = await server.post('/City?$method=update', body)
      t.equal(answer.status, status, `${name}: ${answer.text.slice(0, 200)}`)
    }

    // Up to twice the limit, a body is read to its end so that its sender sees the answer; beyond that, its length decides.
    const head = 'POST /rest/City?$method=update HTTP/1.1\r\nHost: 127.0.0.1\r\n'
    const tooLarge: [string, string[]][] = [
      ['a length above twice the limit', [`${head}Content-Length: 3000000\r\n\r\n`, '"xxx']],
      [
        'chunks above the limit',
        [`${head}Transfer-Encoding: chunked\r\n\r\n`, `120000\r\n${'x'.repeat(0x120000)}\r\n0\r\n\r\n`],
      ],
    ]
    for (const [name, pieces] of tooLarge) {
      const { statuses } = await exchangeRaw(server.port, pieces, 'server')
      t.strictSame(statuses, [413], name)
    }
    t.notOk('polluted' in {}, 'no prototype was changed')
    t.same((await server.get('/City')).json, before, 'nothing was saved')
  })
}
