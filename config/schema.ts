import { type TObject, type TSchema, Type } from '@sinclair/typebox'
import { choice, connections, type Option, path, pluginList, textList, type Values } from './option.ts'
import { backupOptions } from './options/backup.ts'
import { mcpOptions } from './options/mcp.ts'
import { nodesOptions } from './options/nodes.ts'
import { metricsOptions } from './options/metrics.ts'
import { serverOptions } from './options/server.ts'
import { storageOptions } from './options/storage.ts'
import { queryOptions } from './options/query.ts'
import { functionOptions } from './options/functions.ts'
import { entitySetOptions } from './options/entity-set.ts'
import { writeOptions } from './options/write.ts'
import { sessionOptions } from './options/session.ts'

/** All options: name, shape, default and documentation. Source of the types, the flags, the environment and the schema. */
const configTable = {
  model: path('File of the data model. Without it and without a config file, the server serves the built-in demo.'),
  data: path('Folder of the store; `data/store` by default, `data/demo` for the demo.'),
  ...serverOptions,
  ...metricsOptions,
  ...mcpOptions,
  ...storageOptions,
  ...backupOptions,
  'protocol.dateOnlyFormat': choice({
    default: 'iso',
    of: ['iso', 'dmy'],
    doc: 'Format of dates without a time: `2020-01-31`, or `31!1!2020` as older clients expect.',
  }),
  ...queryOptions,
  ...functionOptions,
  ...entitySetOptions,
  ...writeOptions,
  ...sessionOptions,
  connections: connections(
    'Databases, by name, that hold dataclasses of the model (`"storage": { "postgres": NAME }`). You can keep any value outside this file: `{ "env": "DB_URL" }` reads it from an environment variable, `{ "file": "/run/secrets/db" }` from a file.',
  ),
  ...nodesOptions,
  plugins: pluginList(
    'Plugins to load after the built-in ones: npm names, paths, or `{ "plugin": …, "options": { … }, "roles": […], "privileges": […] }`.',
  ),
  disablePlugins: textList({ default: [], doc: 'Built-in plugins that are not loaded, by name.' }),
} as const

export type ConfigKey = keyof typeof configTable
export type ConfigValues = Values<typeof configTable>
export const CONFIG_KEYS = Object.keys(configTable) as ConfigKey[]

const OPTIONS: Readonly<Record<ConfigKey, Option<unknown>>> = configTable
export const optionOf = (key: ConfigKey): Option<unknown> => OPTIONS[key]

/** Shape of `tesser.config.json`. Every part may be left out. */
export const CONFIG_FILE_SCHEMA: TSchema = objectSchema('', { $schema: Type.Optional(Type.String()) })

function objectSchema(prefix: string, more: Record<string, TSchema> = {}): TObject {
  const properties: Record<string, TSchema> = { ...more }
  for (const key of CONFIG_KEYS) {
    if (!key.startsWith(prefix)) continue
    const [head, ...rest] = key.slice(prefix.length).split('.') as [string, ...string[]]
    properties[head] ??= Type.Optional(rest.length > 0 ? objectSchema(`${prefix}${head}.`) : optionOf(key).schema)
  }
  return Type.Object(properties, { additionalProperties: false })
}

/** Flags with an additional short name. */
const SHORT = new Map<ConfigKey, string>([
  ['server.host', 'host'],
  ['server.port', 'port'],
  ['storage.allowLoss', 'allow-loss'],
])

/** Names of the flag for an option, the short one first: `port`, `server-port`. */
export const flagNames = (key: ConfigKey): string[] => [...(SHORT.has(key) ? [SHORT.get(key)!] : []), kebab(key)]

/** Names of the environment variable for an option, the short one first: `TESSER_PORT`, `TESSER_SERVER_PORT`. */
export const environmentNames = (key: ConfigKey): string[] =>
  flagNames(key).map(name => `TESSER_${name.replaceAll('-', '_').toUpperCase()}`)

const kebab = (key: string): string => key.replaceAll('.', '-').replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)
