/** Every transport: TLS, and certificates that are renewed. */
import { randomBytes, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { request as httpsRequest } from 'node:https'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import t from 'tap'
import { exchangeRaw } from '../../../support/clients/raw-connection.ts'
import { loadableTransports, startTransport } from '../../../support/servers/transports.ts'
import { ok, rawGet, sha1, TEN_MB } from './requests.ts'

const KEY_FILE = 'test/edge/fixtures/localhost.key.pem'
const CERT_FILE = 'test/edge/fixtures/localhost.cert.pem'
const RENEWED_KEY_FILE = 'test/edge/fixtures/renewed.key.pem'
const RENEWED_CERT_FILE = 'test/edge/fixtures/renewed.cert.pem'

for (const name of loadableTransports) {
  t.test(name, async t => {
    t.test('TLS serves, large bodies too, and a plain request to it is refused', async t => {
      const tls = { keyFile: KEY_FILE, certFile: CERT_FILE }
      const bytes = randomBytes(TEN_MB)
      const transport = await startTransport(t, name, async request => ok(sha1(await request.body())), { tls })
      const answer = await new Promise<string>((resolve, reject) => {
        const options = {
          method: 'POST',
          host: '127.0.0.1',
          port: transport.port,
          ca: readFileSync(CERT_FILE),
          agent: false,
        } as const
        httpsRequest(options, response => resolve(text(response)))
          .on('error', reject)
          .end(bytes)
      })
      t.equal(answer, sha1(bytes))
      const plain = await exchangeRaw(transport.port, [rawGet('/')], 'client')
      t.notOk(plain.statuses.includes(200))
    })

    t.test('TLS files that cannot be used are an error that names them', async t => {
      const tls = { keyFile: KEY_FILE, certFile: 'no-such-file.pem' }
      await t.rejects(
        startTransport(t, name, () => ok(), { tls }),
        { message: /key\.pem.*no-such-file\.pem.*ENOENT/ },
      )
      const swapped = { keyFile: CERT_FILE, certFile: KEY_FILE }
      await t.rejects(
        startTransport(t, name, () => ok(), { tls: swapped }),
        { message: /TLS cannot use key/ },
      )
    })

    t.test('a renewed certificate is used for new connections, and no request is lost', async t => {
      const folder = t.testdir()
      const tls = { keyFile: join(folder, 'key.pem'), certFile: join(folder, 'cert.pem') }
      const write = (keyFile: string, certFile: string) => {
        copyFileSync(keyFile, tls.keyFile)
        copyFileSync(certFile, tls.certFile)
        return new X509Certificate(readFileSync(certFile)).fingerprint256
      }
      const first = write(KEY_FILE, CERT_FILE)
      const transport = await startTransport(t, name, () => ok(), { tls, limits: { maxConnections: 100 } })
      const { port } = transport
      const open = async () => {
        const socket = connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false })
        t.teardown(() => socket.destroy())
        await once(socket, 'secureConnect')
        return socket
      }
      const served = async (socket: TLSSocket): Promise<string> => {
        socket.write(rawGet('/'))
        const [bytes] = await once(socket, 'data')
        t.match(String(bytes), /^HTTP\/1.1 200/)
        return socket.getPeerCertificate().fingerprint256
      }
      const early = await open()
      t.equal(await served(early), first)
      t.equal(transport.certificate?.fingerprint256, first)

      const second = write(RENEWED_KEY_FILE, RENEWED_CERT_FILE)
      let isRenewing = true
      const meanwhile = async (): Promise<void> => {
        for (let i = 0; isRenewing || i < 5; i++) {
          // A connection that waits at the socket that is closed is reset before its handshake: clients connect again.
          const socket = await open().catch(() => open())
          t.ok([first, second].includes(await served(socket)))
          socket.destroy()
        }
      }
      const load = [meanwhile(), meanwhile()]
      for (let i = 0; i < 3; i++) t.equal((await transport.renewCertificate()).fingerprint256, second)
      isRenewing = false
      await Promise.all(load)
      t.equal(await served(await open()), second)
      t.equal(await served(early), first, 'an earlier connection stays usable')

      write(RENEWED_KEY_FILE, CERT_FILE)
      await t.rejects(transport.renewCertificate(), { message: /TLS cannot use .*key\.pem .*cert\.pem: / })
      writeFileSync(tls.certFile, 'half a cert')
      await t.rejects(transport.renewCertificate(), { message: /TLS cannot use/ })
      t.equal(await served(await open()), second, 'files that cannot be used change nothing')
      t.equal(transport.certificate?.fingerprint256, second)

      await t.rejects(
        startTransport(t, name, () => ok(), { port }),
        { message: /another process has port/ },
      )
      await transport.close(0)
      await t.rejects(open(), { code: 'ECONNREFUSED' })
    })
  })
}
