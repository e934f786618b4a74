import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { loadConfig } from '../../config/load-config.ts'
import { addUser } from './accounts.ts'
import { newPackage } from './new-package.ts'

/** Name of the first administrator. */
const ADMINISTRATOR = 'admin'

/**
 * `tesser init`: creates an application: a model, a configuration, roles, a plugin, tests, and a first administrator.
 * @param print called with each line for the user, of which one has the password: no file contains it
 * @throws {Error} see {@link newPackage}
 */
export async function init(name: string, print: (line: string) => void, cwd = process.cwd()): Promise<void> {
  const folder = newPackage(name, ['plugin-template', 'app-template'], cwd)
  const password = randomBytes(15).toString('base64url')
  const config = loadConfig({ file: join(cwd, folder, 'tesser.config.json'), env: {}, flags: {} })
  await addUser(config, ADMINISTRATOR, {
    fullName: 'Administrator',
    roles: ['editor'],
    privileges: ['WebAdmin'],
    passwordFrom: lineOf(password),
  })
  print(
    `${folder}/ is ready. Its first administrator; the password is shown only now:\n\n  ${ADMINISTRATOR}\n  ${password}\n\nNext:\n\n  cd ${folder}\n  npm install\n  npm test\n  npx tesser start\n\n${folder}/README.md describes the files and lists more commands.`,
  )
}

async function* lineOf(text: string): AsyncIterable<Buffer> {
  yield Buffer.from(`${text}\n`)
}
