import { createHash, randomBytes } from 'node:crypto'
import { chownSync, existsSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Static, Type } from '@sinclair/typebox'
import { Ajv } from 'ajv'
import type { Config } from '../../config/load-config.ts'
import { readJsonFile } from '../../config/read-json-file.ts'
import { fold, hasShape } from '../../engine/index.ts'
import { costProblem, HASH, verifyPassword } from './password.ts'
import type { User } from './user.ts'

const NAME = Type.String({ minLength: 1, maxLength: 200 })
const NAMES = Type.Optional(Type.Array(NAME))

const USER = Type.Object(
  {
    name: NAME,
    fullName: Type.Optional(Type.String({ maxLength: 200 })),
    /** Identifier of the user for older clients. */
    id: Type.Optional(Type.Union([Type.String(), Type.Number()])),
    password: Type.String({ pattern: HASH.source }),
    groups: NAMES,
    privileges: NAMES,
    roles: NAMES,
  },
  { additionalProperties: false },
)

const DAY = /^\d{4}-\d\d-\d\d$/

const KEY = Type.Object(
  {
    name: NAME,
    /** SHA-256 of the key, in hex. */
    hash: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    /** First day, such as `2027-01-31`, on which the key is refused. */
    expires: Type.Optional(Type.String({ pattern: DAY.source })),
    privileges: NAMES,
    roles: NAMES,
  },
  { additionalProperties: false },
)

const FILE = Type.Object(
  { users: Type.Optional(Type.Array(USER)), keys: Type.Optional(Type.Array(KEY)) },
  { additionalProperties: false },
)

type DirectoryUser = Static<typeof USER>
type DirectoryKey = Static<typeof KEY>
export interface DirectoryFile {
  users: DirectoryUser[]
  keys: DirectoryKey[]
}

/** A directory file that cannot be used, with every reason. */
export class DirectoryError extends Error {
  override readonly name = 'DirectoryError'
}

/** Prefix of keys, by which leaked ones can be found. */
export const KEY_PREFIX = 'tesser_'
export const createKey = (): string => KEY_PREFIX + randomBytes(24).toString('base64url')
/** Longer texts are not hashed. Our own keys have 39 characters; the file may have hashes of other keys. */
const MAX_KEY_LENGTH = 200
export const hashKey = (key: string): string => createHash('sha256').update(key).digest('hex')

/** File of users and keys: the option, or `tesser.directory.json` in the folder of the config file. */
export const directoryFile = ({ auth, folder }: Config): string =>
  auth.directoryFile ?? resolve(folder, 'tesser.directory.json')

/** Warning about a file of users and keys that does not exist, without which every login fails; undefined if it exists. */
export function missingDirectory(file: string): string | undefined {
  if (existsSync(file)) return undefined
  return `there is no file of users and keys ${file} (auth.directoryFile), so every login fails; tesser user add and tesser key create write it`
}

/** @returns an empty directory when there is no file @throws {DirectoryError} */
export function readDirectory(file: string): DirectoryFile {
  return existsSync(file) ? checkContent(readJsonFile(file, 'directory'), file) : { users: [], keys: [] }
}

/** @throws {DirectoryError} with all reasons why the content cannot be used */
function checkContent(content: unknown, file: string): DirectoryFile {
  const ajv = hasShape(FILE, content) ? undefined : new Ajv({ allErrors: true })
  if (ajv && !ajv.validate(FILE, content)) {
    const problems = ajv.errors!.map(({ instancePath, message }) => `${file}: ${instancePath || 'the file'} ${message}`)
    throw new DirectoryError(problems.join('\n'))
  }
  const { users = [], keys = [] } = content as Static<typeof FILE>
  const problems: string[] = []
  for (const entries of [users, keys]) problems.push(...namesakes(entries).map(problem => `${file}: ${problem}`))
  for (const { name, password } of users) {
    const problem = costProblem(password)
    if (problem) problems.push(`${file}: the password hash of ${name} cannot be verified: ${problem}`)
  }
  for (const { name, expires } of keys) {
    // Compared with NaN, a key would never expire.
    if (expires !== undefined && !isDay(expires))
      problems.push(`${file}: the key ${name} expires on ${expires}, which is not a day`)
  }
  if (problems.length > 0) throw new DirectoryError(problems.join('\n'))
  return { users, keys }
}

/** Finds entries whose names are equal in queries, which ignore case and accents. */
function namesakes(entries: readonly { name: string }[]): string[] {
  const namesByKey = new Map<string, string>()
  return entries.flatMap(({ name }) => {
    const [key, other] = [fold(name), namesByKey.get(fold(name))]
    namesByKey.set(key, name)
    if (other === undefined) return []
    if (other === name) return [`there are two entries named ${name}`]
    const pair = `${JSON.stringify(other)} and ${JSON.stringify(name)}`
    return [`the names ${pair} are equal in queries, which ignore case and accents; rename one`]
  })
}

/** True if a string such as `2030-12-31` is a day of the calendar. */
export function isDay(text: string): boolean {
  const time = DAY.test(text) ? Date.parse(text) : Number.NaN
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}

/** Replaces the file as a whole; only its owner can read it. @throws {DirectoryError} for content that could not be read again */
export function writeDirectory(file: string, directory: DirectoryFile): void {
  checkContent(directory, file)
  const draft = `${file}.${process.pid}.new`
  rmSync(draft, { force: true })
  writeFileSync(draft, `${JSON.stringify(directory, null, 2)}\n`, { mode: 0o600, flag: 'wx' })
  const before = statSync(file, { throwIfNoEntry: false })
  // Run by root: the server runs as another user and must still be able to read it.
  if (before && process.getuid?.() === 0) chownSync(draft, before.uid, before.gid)
  renameSync(draft, file)
}

/** Users and API keys of a file, which is read again when it changes. */
export class Directory {
  private readonly users = new Map<string, DirectoryUser>()
  /** Hash of the entry of each user. */
  private readonly entries = new Map<string, string>()
  private readonly keys = new Map<string, DirectoryKey>()
  /** Names of users and keys, folded as in queries. */
  private readonly names: ReadonlySet<string>
  private readonly decoys: readonly DirectoryUser[]

  constructor({ users, keys }: DirectoryFile) {
    this.decoys = users
    this.names = new Set([...users, ...keys].map(({ name }) => fold(name)))
    for (const user of users) {
      const key = user.name.toLowerCase()
      this.users.set(key, user)
      this.entries.set(key, createHash('sha256').update(JSON.stringify(user)).digest('base64url'))
    }
    for (const key of keys) this.keys.set(key.hash, key)
  }

  /**
   * Checks a name and a password. Takes the same time whichever of them is wrong: the password for an unknown name is compared with
   * the hash of another user, since hashes of different ages can differ in their cost.
   * @throws {AuthErrors.PASSWORD_TOO_LONG}
   */
  async authenticate(name: string, password: string): Promise<User | undefined> {
    const key = name.toLowerCase()
    const user = this.users.get(key)
    const isRight = await verifyPassword(password, (user ?? this.decoy(key))?.password)
    if (!user || !isRight) return undefined
    const { fullName, id, groups = [], privileges = [], roles = [] } = user
    return { userName: user.name, fullName, id, groups, granted: { privileges, roles }, entry: this.entries.get(key) }
  }

  /** True if the entry of a user is unchanged since the login, or the user does not come from this directory. */
  isCurrent({ userName, entry }: User): boolean {
    return entry === undefined || this.entries.get(userName.toLowerCase()) === entry
  }

  /** True if a user or a key has this name, or a name that queries treat as equal. */
  has(name: string): boolean {
    return this.names.has(fold(name))
  }

  /** Always returns the same user for a name, so that repeated logins do not reveal whether it exists. */
  private decoy(name: string): DirectoryUser | undefined {
    return this.decoys[createHash('sha256').update(name).digest().readUInt32BE(0) % this.decoys.length]
  }

  /** User of an API key; undefined for an unknown or expired key. @param now milliseconds since 1970 */
  byKey(key: string, now: number): User | undefined {
    if (key.length > MAX_KEY_LENGTH) return undefined
    const apiKey = this.keys.get(hashKey(key))
    if (!apiKey || (apiKey.expires && now >= Date.parse(apiKey.expires))) return undefined
    const { name, privileges = [], roles = [] } = apiKey
    return { userName: name, groups: [], granted: { privileges, roles } }
  }
}
