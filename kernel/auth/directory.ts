import { createHash, randomBytes } from 'node:crypto'
import { existsSync, renameSync, writeFileSync } from 'node:fs'
import { type Static, Type } from '@sinclair/typebox'
import { Ajv } from 'ajv'
import { readJsonFile } from '../../config/read-json-file.ts'
import type { User } from '../session/session.ts'
import { HASH, verifyPassword } from './password.ts'

const NAME = Type.String({ minLength: 1, maxLength: 200 })
const NAMES = Type.Optional(Type.Array(NAME))

const USER = Type.Object(
  {
    name: NAME,
    fullName: Type.Optional(Type.String({ maxLength: 200 })),
    /** By which older clients know the user. */
    id: Type.Optional(Type.Union([Type.String(), Type.Number()])),
    password: Type.String({ pattern: HASH.source }),
    groups: NAMES,
    privileges: NAMES,
    roles: NAMES,
  },
  { additionalProperties: false },
)

const KEY = Type.Object(
  {
    name: NAME,
    /** SHA-256 of the key, in hex. */
    hash: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    /** A day, `2027-01-31`, on which it is refused for the first time. */
    expires: Type.Optional(Type.String({ pattern: String.raw`^\d{4}-\d\d-\d\d$` })),
    privileges: NAMES,
    roles: NAMES,
  },
  { additionalProperties: false },
)

const FILE = Type.Object(
  { users: Type.Optional(Type.Array(USER)), keys: Type.Optional(Type.Array(KEY)) },
  { additionalProperties: false },
)

export type DirectoryUser = Static<typeof USER>
export type DirectoryKey = Static<typeof KEY>
export interface DirectoryFile {
  users: DirectoryUser[]
  keys: DirectoryKey[]
}

/** A directory file that cannot be used, with every reason. */
class DirectoryError extends Error {
  override readonly name = 'DirectoryError'
}

/** Keys begin with it, so that they are found when they lie around where they should not. */
export const KEY_PREFIX = 'tesser_'
export const createKey = (): string => KEY_PREFIX + randomBytes(24).toString('base64url')
export const hashKey = (key: string): string => createHash('sha256').update(key).digest('hex')

/** @returns an empty directory when there is no file @throws {DirectoryError} */
export function readDirectory(file: string): DirectoryFile {
  if (!existsSync(file)) return { users: [], keys: [] }
  const content = readJsonFile(file, 'directory')
  const ajv = new Ajv({ allErrors: true })
  if (!ajv.validate(FILE, content)) {
    const problems = ajv.errors!.map(({ instancePath, message }) => `${file}: ${instancePath || 'the file'} ${message}`)
    throw new DirectoryError(problems.join('\n'))
  }
  const { users = [], keys = [] } = content as Static<typeof FILE>
  for (const names of [users.map(user => user.name.toLowerCase()), keys.map(key => key.name)]) {
    const twice = names.find((name, i) => names.indexOf(name) < i)
    if (twice) throw new DirectoryError(`${file}: there are two entries named ${twice}`)
  }
  return { users, keys }
}

/** Replaces the file as a whole; only its owner can read it. */
export function writeDirectory(file: string, directory: DirectoryFile): void {
  const draft = `${file}.${process.pid}.new`
  writeFileSync(draft, `${JSON.stringify(directory, null, 2)}\n`, { mode: 0o600 })
  renameSync(draft, file)
}

/** The users and API keys of a file, read again when it changes. */
export class Directory {
  private readonly users = new Map<string, DirectoryUser>()
  private readonly keys = new Map<string, DirectoryKey>()

  constructor({ users, keys }: DirectoryFile) {
    for (const user of users) this.users.set(user.name.toLowerCase(), user)
    for (const key of keys) this.keys.set(key.hash, key)
  }

  /** Takes the same time whether the name, the password or neither is right. */
  async authenticate(name: string, password: string): Promise<User | undefined> {
    const user = this.users.get(name.toLowerCase())
    const isRight = await verifyPassword(password, user?.password)
    if (!user || !isRight) return undefined
    const { fullName, id, groups = [], privileges = [], roles = [] } = user
    return { userName: user.name, fullName, id, groups, granted: { privileges, roles } }
  }

  /** Whom an API key stands for. @param now milliseconds since 1970 */
  byKey(key: string, now: number): User | undefined {
    const found = this.keys.get(hashKey(key))
    if (!found || (found.expires && now >= Date.parse(found.expires))) return undefined
    const { name, privileges = [], roles = [] } = found
    return { userName: name, groups: [], granted: { privileges, roles } }
  }
}
