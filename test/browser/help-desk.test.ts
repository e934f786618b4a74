/** The page of the help desk: a customer opens a ticket and attaches a file, an agent answers for colleagues alone and closes it. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Test } from 'tap'
import type { Page } from 'playwright-core'
import { quickHash } from '../support/base/password.ts'
import { createTestServer } from '../../kernel/testing.ts'
import type { TransportName } from '../../kernel/transport/transport.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'
import { inBrowser, type Scenarios } from './harness.ts'

const FOLDER = 'plugins/examples/help-desk'
const PASSWORD = 'correct horse'
const ADA = 'ada@example.com'
const at = (file: string): URL => pathToFileURL(join(FOLDER, file))

async function start(t: Test, transport: TransportName): Promise<string> {
  const directoryFile = join(temporaryFolder(t), 'directory.json')
  const password = await quickHash(PASSWORD)
  const users = [
    { name: ADA, password, roles: ['customer'] },
    { name: 'kurt', password, roles: ['agent'] },
  ]
  writeFileSync(directoryFile, JSON.stringify({ users }), { mode: 0o600 })
  const options = {
    // No mail server: mails are of no interest here.
    smtp: { host: '127.0.0.1', port: 1, user: 'desk', password: 'none' },
    ...{ address: 'desk@example.com', agents: 'agents@example.com', mailSecrets: [`whsec_${'a'.repeat(40)}`] },
  }
  const server = await createTestServer({
    ...{ model: at('model.json'), roles: at('roles.json'), plugins: [{ plugin: at('index.ts'), options }] },
    data: { Customer: [{ name: 'Ada', email: ADA }] },
    config: { auth: { directoryFile }, log: { level: 'silent' }, server: { transport } },
  })
  t.teardown(() => server.close())
  return server.url
}

async function logIn(page: Page, name: string, password = PASSWORD): Promise<void> {
  await page.getByLabel('User name').fill(name)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Log in' }).click()
}

const desk: Scenarios = {
  'a ticket from its opening to its end': async ({ page, url, sees, missing, accessible, expect }) => {
    expect(/status of 401/)
    await page.goto(`${url}/desk/`)
    await logIn(page, ADA, 'wrong')
    await sees('The user name or the password is wrong.')
    await accessible()
    await logIn(page, ADA)
    await page.getByLabel('Subject').fill('A <b>broken</b> lamp')
    await page.getByLabel('Text').fill('It is dark.')
    await page.getByRole('button', { name: 'Open', exact: true }).click()
    await sees(page.getByRole('heading', { name: '#1 A <b>broken</b> lamp' }))
    await page
      .getByLabel('File')
      .setInputFiles({ name: 'lamp.txt', mimeType: 'text/plain', buffer: Buffer.from('dark') })
    await page.getByRole('button', { name: 'Upload' }).click()
    await sees(page.getByRole('link', { name: 'lamp.txt' }))
    await page.getByLabel('Reply').fill('Very dark.')
    await page.getByRole('button', { name: 'Send' }).click()
    await sees(page.locator('#comments').getByText('Very dark.'))
    await missing(page.getByLabel('for agents alone'))
    await accessible()
    await page.getByRole('button', { name: 'Log out' }).click()

    await logIn(page, 'kurt')
    await page.getByRole('button', { name: /^#1/ }).click()
    await page.getByLabel('Reply').fill('A new bulb?')
    await page.getByLabel('for agents alone').check()
    await page.getByRole('button', { name: 'Send' }).click()
    await sees('kurt, for agents alone')
    await page.getByRole('button', { name: 'Close the ticket' }).click()
    await sees('closed, not assigned')
    await accessible()
  },
}

await inBrowser({ desk }, start)
