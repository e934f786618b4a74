import password from '@inquirer/password'
import type { Config } from '../../config/load-config.ts'
import { createKey, type DirectoryFile, hashKey, readDirectory, writeDirectory } from '../auth/directory.ts'
import { hashPassword } from '../auth/password.ts'
import { directoryFile } from '../session/open-visitors.ts'

/** `tesser user` and `tesser key`: the file of users and API keys. A running server reads it again by itself. */

export interface Grants {
  privileges?: readonly string[] | undefined
  roles?: readonly string[] | undefined
}

export interface UserOptions extends Grants {
  fullName?: string | undefined
  id?: string | undefined
  groups?: readonly string[] | undefined
  /** Read the password from the standard input instead of asking for it. */
  passwordFrom?: AsyncIterable<Buffer> | undefined
}

const LEAST_PASSWORD = 8

/** Adds a user, or replaces the password and what is given of one that there is. */
export async function addUser(config: Config, name: string, options: UserOptions): Promise<string> {
  const secret = options.passwordFrom ? await firstLine(options.passwordFrom) : await ask(name)
  if (secret.length < LEAST_PASSWORD)
    throw new Error(`the password has ${secret.length} characters; at least ${LEAST_PASSWORD} are needed`)
  const hash = await hashPassword(secret)
  const { fullName, id, groups, privileges, roles } = options
  return change(config, directory => {
    const old = directory.users.find(user => same(user.name, name))
    const given = Object.fromEntries(
      Object.entries({ fullName, id, groups, privileges, roles }).filter(([, value]) => value !== undefined),
    )
    directory.users = directory.users.filter(user => user !== old)
    directory.users.push({ ...old, name: old?.name ?? name, ...given, password: hash })
    return `${name} ${old ? 'has a new password' : 'was added'}`
  })
}

export const removeUser = (config: Config, name: string): string =>
  change(config, directory => {
    const left = directory.users.filter(user => !same(user.name, name))
    if (left.length === directory.users.length) throw new Error(`there is no user ${name}`)
    directory.users = left
    return `${name} was removed; sessions that are open go on until they end`
  })

export const listUsers = (config: Config): string[] =>
  readDirectory(directoryFile(config)).users.map(({ name, fullName = '', groups = [], privileges = [], roles = [] }) =>
    [name, fullName, ...[...groups, ...roles, ...privileges]].filter(Boolean).join('  '),
  )

/** @returns the key, which is nowhere else: the file has its hash */
export const addKey = (
  config: Config,
  name: string,
  { expires, ...grants }: Grants & { expires?: string | undefined },
): string =>
  change(config, directory => {
    if (directory.keys.some(key => same(key.name, name)))
      throw new Error(`there is a key ${name} already; revoke it first`)
    if (expires !== undefined && !/^\d{4}-\d\d-\d\d$/.test(expires)) {
      throw new Error(`${expires} is no day; 2030-12-31 would be one`)
    }
    const key = createKey()
    const { privileges, roles } = grants
    directory.keys.push({
      name,
      hash: hashKey(key),
      ...(expires !== undefined && { expires }),
      ...(privileges && { privileges: [...privileges] }),
      ...(roles && { roles: [...roles] }),
    })
    return key
  })

export const revokeKey = (config: Config, name: string): string =>
  change(config, directory => {
    const left = directory.keys.filter(key => !same(key.name, name))
    if (left.length === directory.keys.length) throw new Error(`there is no key ${name}`)
    directory.keys = left
    return `${name} was revoked`
  })

export const listKeys = (config: Config): string[] =>
  readDirectory(directoryFile(config)).keys.map(({ name, expires, privileges = [], roles = [] }) =>
    [name, expires && `until ${expires}`, ...roles, ...privileges].filter(Boolean).join('  '),
  )

function change<T>(config: Config, apply: (directory: DirectoryFile) => T): T {
  const file = directoryFile(config)
  const directory = readDirectory(file)
  const result = apply(directory)
  writeDirectory(file, directory)
  return result
}

const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()

async function ask(name: string): Promise<string> {
  if (!process.stdin.isTTY)
    throw new Error('there is no terminal to ask on; --password-stdin reads the password from there')
  const first = await password({ message: `Password of ${name}`, mask: true })
  if ((await password({ message: 'Once more', mask: true })) !== first) throw new Error('the two passwords differ')
  return first
}

async function firstLine(input: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of input) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8').split(/\r?\n/, 1)[0]!
}
