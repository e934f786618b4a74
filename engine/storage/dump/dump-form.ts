import { createHash } from 'node:crypto'
import { type Static, Type } from '@sinclair/typebox'
import { shapeProblems } from '../../catalog/shape-problems.ts'

/** Form of the dumps that this version writes. It is the only one so far: `DUMP.md`. */
const FORM = 1

const closedObject = { additionalProperties: false }
const COUNT = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const NUMBER = Type.Integer({ minimum: 1, maximum: 0x1_0000 })
const SHA256 = Type.String({ pattern: '^[0-9a-f]{64}$', examples: ['e3b0c442…, 64 hexadecimal digits'] })
const CONTENT = { bytes: COUNT, sha256: SHA256 }
const PLAIN_FILE = Type.Object(CONTENT, closedObject)
const DATA_FILE = Type.Object(
  {
    file: Type.String({
      pattern: '^data/[\\p{L}_][\\p{L}\\p{M}\\p{N}_]*(\\.[0-9]+)?\\.ndjson(\\.gz)?$',
      examples: ['data/Company.ndjson.gz'],
    }),
    bytes: Type.Optional(COUNT),
    sha256: Type.Optional(SHA256),
  },
  closedObject,
)

const DESCRIPTION = Type.Object(
  {
    form: Type.Integer({ minimum: 1 }),
    tesser: Type.Optional(Type.String({ maxLength: 100 })),
    time: Type.Optional(Type.String({ maxLength: 100 })),
    globalStamp: Type.Optional(COUNT),
    model: Type.Optional(PLAIN_FILE),
    dataClasses: Type.Optional(
      Type.Record(
        Type.String(),
        Type.Object(
          {
            entities: Type.Optional(COUNT),
            nextAutoIncrement: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
            calculated: Type.Optional(Type.Record(Type.String(), Type.String())),
            files: Type.Optional(Type.Array(DATA_FILE)),
          },
          closedObject,
        ),
      ),
    ),
    blobs: Type.Optional(Type.Object({ count: COUNT, bytes: COUNT }, closedObject)),
    tableNumbers: Type.Optional(
      Type.Object(
        {
          nextTableNumber: NUMBER,
          dataClasses: Type.Record(
            Type.String(),
            Type.Object(
              { tableNumber: NUMBER, nextPosition: NUMBER, attributes: Type.Record(Type.String(), NUMBER) },
              closedObject,
            ),
          ),
        },
        closedObject,
      ),
    ),
    accounts: Type.Optional(
      Type.Object({ roles: Type.Optional(PLAIN_FILE), directory: Type.Optional(PLAIN_FILE) }, closedObject),
    ),
    digest: Type.Optional(SHA256),
  },
  closedObject,
)

/** Content of `dump.json`. */
export type Description = Static<typeof DESCRIPTION>
export type ClassDescription = NonNullable<Description['dataClasses']>[string]
export type DumpFile = Static<typeof DATA_FILE>

export const DESCRIPTION_FILE = 'dump.json'
export const MODEL_FILE = 'model.json'
export const DATA_FOLDER = 'data'
export const BLOB_FOLDER = 'blobs'
export const ACCOUNT_FOLDER = 'accounts'
export const ACCOUNT_FILES = { roles: 'roles.json', directory: 'directory.json' } as const

/** Files of roles, and of users and keys: their paths outside of a dump, or their contents. */
export type Accounts = Readonly<Partial<Record<keyof typeof ACCOUNT_FILES, string>>>

/** Members of a row besides its attributes. */
export const HEAD = { stamp: '__STAMP', globalStamp: '__GlobalStamp', timestamp: '__TIMESTAMP' } as const

/** An image or a blob in a row: the file with its bytes, by their SHA-256. */
export interface BlobReference {
  readonly sha256: string
  /** Media type. */
  readonly type: string
}

/** Path of a blob in the folder of a dump. */
export const blobPath = (sha256: string): string => `${BLOB_FOLDER}/${sha256.slice(0, 2)}/${sha256}`

export const isSha256 = (text: unknown): text is string => typeof text === 'string' && /^[0-9a-f]{64}$/.test(text)

/** Thrown for a dump that is damaged or cannot become a store. The message says why. */
export class DumpError extends Error {
  override readonly name = 'DumpError'
}

const digestOf = (description: Description): string =>
  createHash('sha256').update(JSON.stringify(description)).digest('hex')

/** Content of `dump.json`, with a digest of itself. */
export const encodeDescription = (description: Omit<Description, 'form' | 'digest'>): string => {
  const content = { form: FORM, ...description }
  return `${JSON.stringify({ ...content, digest: digestOf(content) }, undefined, 2)}\n`
}

/** @throws {DumpError} when the description is damaged, or of a newer form */
export function decodeDescription(text: string): Description {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new DumpError(`${DESCRIPTION_FILE} is not JSON: ${(error as Error).message}`)
  }
  const form = (value as { form?: unknown } | null)?.form
  if (typeof form === 'number' && form > FORM) {
    throw new DumpError(`the dump has form ${form}, of a newer version of Tesser; this one reads form ${FORM}`)
  }
  const problems = shapeProblems(DESCRIPTION, value, '')
  if (problems.length > 0) throw new DumpError(`${DESCRIPTION_FILE} cannot be used:\n${list(problems)}`)
  const { digest, ...description } = value as Description
  if (description.tableNumbers && !areDistinct(description.tableNumbers))
    throw new DumpError(
      `${DESCRIPTION_FILE} cannot be used: "tableNumbers" has a number twice, or one that is too high`,
    )
  if (digest !== undefined && digest !== digestOf(description)) {
    throw new DumpError(
      `${DESCRIPTION_FILE} is damaged: its content does not have its digest. If it was edited, remove "digest".`,
    )
  }
  return description
}

function areDistinct({ nextTableNumber, dataClasses }: NonNullable<Description['tableNumbers']>): boolean {
  const tables = Object.values(dataClasses)
  const fit = (numbers: readonly number[], next: number): boolean =>
    new Set(numbers).size === numbers.length && numbers.every(number => number < next)
  return (
    fit(
      tables.map(({ tableNumber }) => tableNumber),
      nextTableNumber,
    ) && tables.every(({ attributes, nextPosition }) => fit(Object.values(attributes), nextPosition))
  )
}

const MAX_LISTED = 20

/** Lists texts in lines of a message. Only the first ones are shown. */
export const list = (lines: readonly string[]): string =>
  [
    ...lines.slice(0, MAX_LISTED).map(line => `  - ${line}`),
    ...(lines.length > MAX_LISTED ? [`  and ${lines.length - MAX_LISTED} more`] : []),
  ].join('\n')
