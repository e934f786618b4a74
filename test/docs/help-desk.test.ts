/** The tutorial of the help desk: its excerpts are in the files, and its requests are answered as it says. */
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { hashKey } from '../../kernel/auth/directory.ts'
import { createTestServer } from '../../kernel/testing.ts'
import { installTesser, runNode } from '../support/commands/author-package.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'
import { followTour, tourOf } from '../support/clients/tour.ts'

const FOLDER = 'plugins/examples/help-desk'
const mailSecret = readFileSync(join(FOLDER, 'development/mail_secret'), 'utf8').trim()
const README = join(FOLDER, 'README.md')
const text = readFileSync(README, 'utf8')

t.test('each excerpt is in the file that is named before it', async t => {
  const excerpts = [...text.matchAll(/^```(?:json|ts|js)\n([\s\S]*?)^```$/gm)]
  t.ok(excerpts.length > 12)
  for (const { 1: excerpt, index } of excerpts) {
    const names = [...text.slice(0, index).matchAll(/`([a-z./-]+\.(?:json|ts|js))`/g)].map(([, name]) => name!)
    const name = names.findLast(each => existsSync(join(FOLDER, each)))!
    t.ok(readFileSync(join(FOLDER, name), 'utf8').includes(excerpt!), `${name} has ${excerpt!.split('\n')[0]}`)
  }
})

t.test('its requests are answered as it says', async t => {
  const names = { ADA: 'ada@example.com', KURT: 'kurt@desk', GRACE: 'grace@desk' }
  const roles = { ADA: 'customer', KURT: 'agent', GRACE: 'manager' }
  const keyOf = (name: string): string => `tesser_${name.toLowerCase().padEnd(40, 'k')}`
  const directoryFile = join(temporaryFolder(t), 'directory.json')
  const keys = Object.entries(names).map(([variable, name]) => ({
    ...{ name, hash: hashKey(keyOf(variable)), privileges: [] },
    roles: [roles[variable as keyof typeof roles]],
  }))
  writeFileSync(directoryFile, JSON.stringify({ keys }), { mode: 0o600 })
  const at = (file: string) => pathToFileURL(join(FOLDER, file))
  const config = JSON.parse(readFileSync(join(FOLDER, 'tesser.config.json'), 'utf8'))
  const [desk] = config.plugins
  const options = { ...desk.options, smtp: { ...desk.options.smtp, port: 1, password: 'none' } }
  const server = await createTestServer({
    ...{ model: at('model.json'), roles: at('roles.json') },
    plugins: [{ ...desk, plugin: at('index.ts'), options: { ...options, mailSecrets: [mailSecret] } }],
    config: { auth: { directoryFile }, log: { level: 'silent' } },
  })
  t.teardown(() => server.close())
  const tour = tourOf(README).map(({ command, answer }) => ({
    command: command.replace(/"Authorization: Bearer \$(\w+)"/, (_, name) => `'Authorization: Bearer ${keyOf(name)}'`),
    answer,
  }))
  t.ok(tour.length > 8)
  await followTour(t, server.url, tour)

  const copy = t.testdir({})
  cpSync(join(FOLDER, 'development'), join(copy, 'development'), { recursive: true })
  installTesser(copy)
  const sends: readonly [port: number, ended: object][] = [
    [server.port, { code: 0, output: '200 {"result":"ticket","ticket":2}\n' }],
    [
      1,
      { code: 1, output: /^http:\/\/127.0.0.1:1\/hooks\/mail cannot be reached \(.+\): npm start .+ TESSER_PORT\n$/ },
    ],
  ]
  for (const [port, ended] of sends) {
    const args = [
      `process.argv = ['', '', 'new@example.com', 'Lost key', 'where is it?']`,
      `process.env.TESSER_PORT = ${port}`,
    ]
    const code = `${args.join(';')}; await import('./development/send-mail.js')`
    t.match(await runNode(copy, '--input-type=module', '-e', code), ended, `a mail to port ${port}`)
  }
})
