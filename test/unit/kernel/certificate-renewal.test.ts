import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { CertificateRenewal } from '../../../kernel/certificate-renewal.ts'

const LOOK_MS = 20

/** A renewal with a transport that accepts certificates unless `fail` gave it a problem, and the log. */
function renewalOf(t: Test, tls: { keyFile: string; certFile: string }) {
  const logged: string[] = []
  let count = 0
  let problem: string | undefined
  const transport = {
    async renewCertificate() {
      if (problem !== undefined) throw new Error(problem)
      return { validTo: String(++count) } as never
    },
  }
  const log = {
    info: (fields: object, text: string) => logged.push(`${text} ${JSON.stringify(fields)}`),
    error: (text: string) => logged.push(text),
  }
  const renewal = new CertificateRenewal(transport, tls, log as never, LOOK_MS)
  t.teardown(() => renewal.close())
  const until = async (length: number): Promise<void> => {
    while (logged.length < length) await delay(5)
  }
  return {
    renewal,
    logged,
    until,
    fail: (text: string | undefined) => {
      problem = text
    },
  }
}

/** Waits for several looks at the files. */
const someLooks = () => delay(6 * LOOK_MS)

t.test('changed files are read once', async t => {
  const folder = t.testdir({ 'key.pem': 'key', 'cert.pem': 'cert' })
  const tls = { keyFile: join(folder, 'key.pem'), certFile: join(folder, 'cert.pem') }
  const { logged, until, fail, renewal } = renewalOf(t, tls)
  await someLooks()
  t.same(logged, [], 'the start has read them')
  writeFileSync(tls.keyFile, 'another key')
  writeFileSync(tls.certFile, 'another cert')
  await until(1)
  await someLooks()
  t.same(logged, [`the certificate was read again ${JSON.stringify({ certFile: tls.certFile, validTo: '1' })}`])

  fail('they do not belong together')
  writeFileSync(tls.certFile, 'a wrong one')
  await until(2)
  await someLooks()
  t.same(logged.slice(1), ['the certificate stays as it was: they do not belong together'])
  fail(undefined)
  writeFileSync(tls.certFile, 'the right one')
  await until(3)
  t.match(logged[2], /read again/)

  await renewal.renew()
  t.match(logged[3], /read again/, 'when called, even without a change')
  await someLooks()
  t.equal(logged.length, 4)
})

t.test('a changed link counts as a change, at any level of the path', async t => {
  const folder = t.testdir({
    '1': { 'tls.crt': 'cert', 'tls.key': 'key' },
    '2': { 'tls.crt': 'cert', 'tls.key': 'key' },
  })
  const point = (name: string, target: string): void => {
    symlinkSync(target, join(folder, 'new-link'))
    renameSync(join(folder, 'new-link'), join(folder, name))
  }
  // As Kubernetes lays out a volume of a secret.
  point('..data', '1')
  point('tls.crt', '..data/tls.crt')
  point('tls.key', '..data/tls.key')
  const { until } = renewalOf(t, { keyFile: join(folder, 'tls.key'), certFile: join(folder, 'tls.crt') })
  await someLooks()
  point('..data', '2')
  await until(1)
  // As certbot changes its links.
  mkdirSync(join(folder, 'archive'))
  writeFileSync(join(folder, 'archive/cert2.pem'), 'cert')
  point('tls.crt', 'archive/cert2.pem')
  await until(2)
  t.pass()
})
