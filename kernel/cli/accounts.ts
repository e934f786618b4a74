import password from '@inquirer/password'
import type { Config } from '../../config/load-config.ts'
import {
  createKey,
  type DirectoryFile,
  directoryFile,
  hashKey,
  isDay,
  missingDirectory,
  readDirectory,
  writeDirectory,
} from '../auth/directory.ts'
import { readRoles } from '../auth/roles-file.ts'
import { unknownGrants } from '../../engine/index.ts'
import { hashPassword, MAX_PASSWORD_BYTES } from '../auth/password.ts'

/** Options of `tesser user` and `tesser key`, which write the file of users and API keys. A running server reads it again automatically. */

export interface Grants {
  privileges?: readonly string[] | undefined
  roles?: readonly string[] | undefined
}

export interface UserOptions extends Grants {
  fullName?: string | undefined
  id?: string | undefined
  groups?: readonly string[] | undefined
  /** Input from which the password is read; if undefined, the command asks for it. */
  passwordFrom?: AsyncIterable<Buffer> | undefined
}

const MIN_PASSWORD_LENGTH = 8
/** Maximum length of a line that is read to the end: no password of more bytes is accepted. */
const MAX_LINE_BYTES = 2 * MAX_PASSWORD_BYTES

/** @throws {Error} naming each role and privilege that the file of roles does not declare */
function refuseUnknown(config: Config, { roles = [], privileges = [] }: Grants): void {
  const document = readRoles(config)
  const problems = document === undefined ? [] : unknownGrants(document, { roles, privileges })
  if (problems.length > 0) throw new Error(problems.join('\n'))
}

/** Adds a user, or replaces the password and the given properties of an existing one. */
export async function addUser(config: Config, name: string, options: UserOptions): Promise<string> {
  refuseUnknown(config, options)
  const { maxPasswordBytes } = config.auth.login
  const secret = options.passwordFrom ? await firstLine(options.passwordFrom) : await ask(name)
  if (secret.length < MIN_PASSWORD_LENGTH)
    throw new Error(`the password has ${secret.length} characters; at least ${MIN_PASSWORD_LENGTH} are needed`)
  if (Buffer.byteLength(secret) > maxPasswordBytes)
    throw new Error(
      `the password has more than ${maxPasswordBytes} bytes in UTF-8, the value of auth.login.maxPasswordBytes`,
    )
  const hash = await hashPassword(secret)
  const { fullName, id, groups, privileges, roles } = options
  return change(config, (directory, file) => {
    const old = directory.users.find(user => same(user.name, name))
    const changes = Object.fromEntries(
      Object.entries({ fullName, id, groups, privileges, roles }).filter(([, value]) => value !== undefined),
    )
    directory.users = directory.users.filter(user => user !== old)
    directory.users.push({ ...old, name: old?.name ?? name, ...changes, password: hash })
    return old ? `${name} has a new password in ${file} and must log in again` : `${name} was added to ${file}`
  })
}

export const removeUser = (config: Config, name: string): string =>
  change(config, (directory, file) => {
    const remainingUsers = directory.users.filter(user => !same(user.name, name))
    if (remainingUsers.length === directory.users.length) throw new Error(`there is no user ${name} in ${file}`)
    directory.users = remainingUsers
    return `${name} was removed from ${file}; open sessions end`
  })

export const listUsers = (config: Config): string[] =>
  readDirectory(directoryFile(config)).users.map(({ name, fullName = '', groups = [], privileges = [], roles = [] }) =>
    [name, fullName, ...[...groups, ...roles, ...privileges]].filter(Boolean).join('  '),
  )

/** @returns the key, which is not stored, and the file, which has only its hash */
export const addKey = (
  config: Config,
  name: string,
  { expires, ...grants }: Grants & { expires?: string | undefined },
): { key: string; file: string } =>
  change(config, (directory, file) => {
    if (directory.keys.some(key => same(key.name, name)))
      throw new Error(`the key ${name} already exists; revoke it first`)
    refuseUnknown(config, grants)
    if (expires !== undefined && !isDay(expires)) throw new Error(`${expires} is not a day; 2030-12-31 would be one`)
    const key = createKey()
    const { privileges, roles } = grants
    directory.keys.push({
      name,
      hash: hashKey(key),
      ...(expires !== undefined && { expires }),
      ...(privileges && { privileges: [...privileges] }),
      ...(roles && { roles: [...roles] }),
    })
    return { key, file }
  })

export const revokeKey = (config: Config, name: string): string =>
  change(config, (directory, file) => {
    const remainingKeys = directory.keys.filter(key => !same(key.name, name))
    if (remainingKeys.length === directory.keys.length) throw new Error(`there is no key ${name} in ${file}`)
    directory.keys = remainingKeys
    return `${name} was revoked in ${file}`
  })

export const listKeys = (config: Config): string[] =>
  readDirectory(directoryFile(config)).keys.map(({ name, expires, privileges = [], roles = [] }) =>
    [name, expires && `until ${expires}`, ...roles, ...privileges].filter(Boolean).join('  '),
  )

/** Sentence about a file that does not exist; undefined if it does. */
export const missingFile = (config: Config): string | undefined => missingDirectory(directoryFile(config))

function change<T>(config: Config, apply: (directory: DirectoryFile, file: string) => T): T {
  const file = directoryFile(config)
  const directory = readDirectory(file)
  const result = apply(directory, file)
  writeDirectory(file, directory)
  return result
}

const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()

async function ask(name: string): Promise<string> {
  if (!process.stdin.isTTY)
    throw new Error('there is no terminal to ask for the password; --password-stdin reads it from the standard input')
  const first = await password({ message: `Password of ${name}`, mask: true })
  if ((await password({ message: 'Once more', mask: true })) !== first) throw new Error('the two passwords differ')
  return first
}

async function firstLine(input: AsyncIterable<Buffer>): Promise<string> {
  let text = Buffer.alloc(0)
  for await (const chunk of input) {
    text = Buffer.concat([text, chunk])
    if (text.includes('\n') || text.length > MAX_LINE_BYTES) break
  }
  return text.toString('utf8').split(/\r?\n/, 1)[0]!
}
