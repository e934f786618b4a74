import { resolve } from 'node:path'
import { type TSchema, Type } from '@sinclair/typebox'
import type { Reference } from './reference.ts'

/** One option: its form in the file and as text, its default, and its documentation. */
export interface Option<T> {
  /** Shape in the config file. */
  readonly schema: TSchema
  readonly default: T
  readonly doc: string
  /** Hidden by `--print-config`. */
  readonly secret: boolean
  /** Converts the text of a flag or an environment variable to the value in the file; text that cannot be read stays unchanged. */
  fromText(text: string): unknown
  /** Converts a value in the file to that of the option. @param folder start of relative paths */
  read(value: unknown, folder: string): T
}

/** Value of a table of options, nested by the dots in its keys. */
export type Values<Table> = {
  [Head in keyof Table as Head extends `${infer H}.${string}` ? H : Head]: Head extends `${infer H}.${string}`
    ? Values<{ [K in keyof Table as K extends `${H}.${infer Rest}` ? Rest : never]: Table[K] }>
    : Table[Head] extends Option<infer T>
      ? T
      : never
}

interface Common<T> {
  default: T
  doc: string
}

export function text<T extends string | undefined = string>({
  doc,
  secret = false,
  mayBeEmpty = false,
  pattern,
  examples,
  ...rest
}: Common<T> & { secret?: boolean; mayBeEmpty?: boolean; pattern?: string; examples?: string[] }): Option<T> {
  const schema = Type.String({
    ...(!mayBeEmpty && { minLength: 1 }),
    ...(pattern && { pattern }),
    ...(examples && { examples }),
  })
  return make({ schema, doc, secret, ...rest })
}

export function integer({ min, max, ...rest }: Common<number> & { min: number; max?: number }): Option<number> {
  const schema = Type.Integer({ minimum: min, ...(max !== undefined && { maximum: max }) })
  return make({ schema, fromText: numberOrText, ...rest })
}

export function number({ min, max, ...rest }: Common<number> & { min: number; max?: number }): Option<number> {
  const schema = Type.Number({ minimum: min, ...(max !== undefined && { maximum: max }) })
  return make({ schema, fromText: numberOrText, ...rest })
}

export function flag(common: Common<boolean>): Option<boolean> {
  return make({ schema: Type.Boolean(), fromText: flagOrText, ...common })
}

/** Option that is true, false, or unset; if it is unset, the code that uses it decides. */
export function optionalFlag(doc: string): Option<boolean | undefined> {
  return make<boolean | undefined>({ schema: Type.Boolean(), default: undefined, fromText: flagOrText, doc })
}

export function choice<const T extends string>({ of, ...rest }: Common<NoInfer<T>> & { of: readonly T[] }): Option<T> {
  return make({ schema: Type.Unsafe<T>({ type: 'string', enum: of }), ...rest })
}

export function textList(common: Common<readonly string[]>): Option<readonly string[]> {
  return make({ schema: Type.Array(Type.String({ minLength: 1 })), fromText: listOfText, ...common })
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
const SIZE = /^(\d+(?:\.\d+)?) *(B|KiB|MiB|GiB|TiB)$/

/** Option for a number of bytes: an integer, or a text such as "64 MiB". */
export function bytes({ default: size, min, doc }: Common<string> & { min: number }): Option<number> {
  const schema = Type.Unsafe<number | string>({
    type: ['integer', 'string'],
    minimum: min,
    pattern: SIZE.source,
    examples: [size],
  })
  const read = (value: unknown): number => {
    if (typeof value === 'number') return value
    const [, amount, unit] = SIZE.exec(value as string)!
    return Math.floor(Number(amount) * 1024 ** UNITS.indexOf(unit!))
  }
  return make({ schema: { ...schema, default: size }, default: read(size), doc, fromText: numberOrText, read })
}

/** Option for a file or folder, read as an absolute path. */
export function path(doc: string): Option<string | undefined> {
  return make<string | undefined>({
    schema: Type.String({ minLength: 1 }),
    default: undefined,
    doc,
    read: (value, folder) => resolve(folder, value as string),
  })
}

const ADDRESS = /^[a-z][a-z\d+.-]+:\/\//i

/** Option for a folder, read as an absolute path, or an address with a scheme, which stays as it is. */
export function pathOrAddress(doc: string): Option<string | undefined> {
  const { read, ...option } = path(doc)
  return {
    ...option,
    read: (value, folder) => (ADDRESS.test(value as string) ? (value as string) : read(value, folder)),
  }
}

/** A plugin to load: an npm name, a path relative to the config file or `tesser/plugins/{name}`, and its options. */
export interface PluginReference {
  specifier: string
  options?: Record<string, unknown>
  /** Rights of the plugin itself. */
  granted?: { readonly roles: readonly string[]; readonly privileges: readonly string[] }
}

const PLUGIN_OPTIONS =
  'Options of the plugin. You can keep any value outside this file: { "env": "STRIPE_KEY" } reads it from an environment variable, { "file": "/run/secrets/stripe_key" } from a file.'

export function pluginList(doc: string): Option<readonly PluginReference[]> {
  const names = (description: string) => Type.Array(Type.String({ minLength: 1 }), { description })
  const item = Type.Unsafe<
    string | { plugin: string; options?: Record<string, unknown>; roles?: string[]; privileges?: string[] }
  >({
    type: ['string', 'object'],
    minLength: 1,
    properties: {
      plugin: Type.String({ minLength: 1 }),
      options: { type: 'object', description: PLUGIN_OPTIONS },
      roles: names('Roles of the plugin itself, for functions that it calls without a user.'),
      privileges: names('Privileges of the plugin itself, in addition to the privileges of its roles.'),
    },
    required: ['plugin'],
    additionalProperties: false,
  })
  return make<readonly PluginReference[]>({
    schema: Type.Array(item),
    default: [],
    doc,
    fromText: listOfText,
    read: value =>
      (value as (typeof item.static)[]).map(each => {
        if (typeof each === 'string') return { specifier: each }
        const { plugin: specifier, options, roles, privileges } = each
        const grants = (roles || privileges) && { roles: roles ?? [], privileges: privileges ?? [] }
        return { specifier, ...(options && { options }), ...(grants && { granted: grants }) }
      }),
  })
}

/** A database as the file describes it. */
export interface ConnectionOptions {
  readonly url: string | Reference
  readonly password?: string | Reference
  readonly maxConnections?: number
  readonly sessionVariable?: string
}

const REFERENCE = {
  type: 'object',
  properties: { env: { type: 'string' }, file: { type: 'string' } },
  minProperties: 1,
  maxProperties: 1,
  additionalProperties: false,
} as const

/** Option for databases by name. They can be set only in the file. */
export function connections(doc: string): Option<Readonly<Record<string, ConnectionOptions>>> {
  const referable = (description: string) =>
    Type.Unsafe<string | Reference>({ ...REFERENCE, type: ['string', 'object'], minLength: 1, description })
  const connection = Type.Object(
    {
      url: referable('Address: `postgres://user@host:5432/database`, or a reference to it.'),
      password: Type.Optional(referable('Password of the user, or better a reference to it.')),
      maxConnections: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 1000, description: 'Maximum number of connections; 10 by default.' }),
      ),
      sessionVariable: Type.Optional(
        Type.String({
          pattern: '^[a-z_][a-z0-9_]*\\.[a-z_][a-z0-9_]*$',
          maxLength: 60,
          description:
            'Setting, such as `app.user`, that holds the name of the user of the request while a statement runs; empty for guests. For row security policies.',
        }),
      ),
    },
    { additionalProperties: false },
  )
  return make({
    schema: { ...Type.Record(Type.String(), connection), default: undefined },
    default: {},
    doc,
    fromText: jsonOfText,
  })
}

type Parts<T> = Common<T> & Partial<Option<T>> & { schema: TSchema }
const make = <T>(parts: Parts<T>): Option<T> => ({
  secret: false,
  fromText: text => text,
  read: value => value as T,
  ...parts,
  schema: { default: parts.default, ...parts.schema, description: parts.doc },
})

const numberOrText = (text: string): number | string => (/^-?\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : text)
const flagOrText = (text: string): boolean | string => (text === 'true' ? true : text === 'false' ? false : text)
const jsonOfText = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
const listOfText = (text: string): string[] =>
  text
    .split(',')
    .map(item => item.trim())
    .filter(item => item !== '')
