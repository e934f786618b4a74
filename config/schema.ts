import { type TObject, type TSchema, Type } from '@sinclair/typebox'
import {
  bytes,
  choice,
  flag,
  integer,
  number,
  type Option,
  path,
  pluginList,
  text,
  textList,
  type Values,
} from './option.ts'

/** Every option: name, shape, default and documentation. Source of the types, the flags, the environment and the schema. */
export const configTable = {
  model: path('File of the data model. Without it and without a config file the embedded demo is served.'),
  data: path('Folder of the store; `data/store` by default, `data/demo` for the demo.'),

  'server.host': text({ default: '127.0.0.1', doc: 'Address to listen on; `0.0.0.0` for all of this machine.' }),
  'server.port': integer({ default: 8080, min: 0, max: 65_535, doc: 'Port to listen on; 0 takes a free one.' }),
  'server.transport': choice({
    default: 'auto',
    of: ['auto', 'uws', 'uws-node20', 'node-http'],
    doc: 'HTTP implementation: the current uWebSockets.js, its build for Node 20, or that of Node; `auto` takes the first that works.',
  }),
  'server.tls.keyFile': path('Private key of the server, PEM. With `certFile` the server speaks HTTPS only.'),
  'server.tls.certFile': path('Certificate of the server with its chain, PEM.'),
  'server.tls.passphrase': text<string | undefined>({
    default: undefined,
    secret: true,
    doc: 'Passphrase of the key file.',
  }),
  'server.headerBytes': bytes({
    default: '64 KiB',
    min: 4096,
    doc: 'Greatest request line with headers; filters and vectors make it long.',
  }),
  'server.bodyBytes': bytes({ default: '32 MiB', min: 1024, doc: 'Greatest request body.' }),
  'server.requestTimeoutMs': integer({
    default: 30_000,
    min: 1000,
    doc: 'Time for a request to arrive, head and body.',
  }),
  'server.idleTimeoutMs': integer({
    default: 60_000,
    min: 1000,
    doc: 'Connections without a request are closed after it.',
  }),
  'server.graceMs': integer({
    default: 10_000,
    min: 0,
    doc: 'Time that requests in flight get when the server stops.',
  }),
  'server.refuseChunked': flag({ default: false, doc: 'Refuse bodies with `Transfer-Encoding: chunked` (411).' }),
  'server.cors.origins': textList({
    default: [],
    doc: 'Origins of pages that may ask, such as `https://app.example.com`; `*` for every one without cookies.',
  }),
  'server.cors.credentials': flag({ default: false, doc: 'Let those pages send cookies.' }),
  'server.cors.maxAgeSeconds': integer({
    default: 600,
    min: 0,
    doc: 'Time for which a browser keeps the answer to its preflight request.',
  }),
  'server.accessLog': flag({ default: false, doc: 'Log every request.' }),

  'log.level': choice({
    default: 'info',
    of: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    doc: 'Least level that is logged.',
  }),
  'log.pretty': flag({ default: false, doc: 'Lines for people in place of JSON.' }),

  'storage.mapSizeBytes': bytes({
    default: '64 GiB',
    min: 2 ** 20,
    doc: 'Upper bound of the store. Reserves address space, neither memory nor disk.',
  }),
  'storage.cacheBytes': bytes({
    default: '256 MiB',
    min: 2 ** 20,
    doc: 'Memory for columns of values that filters and sorts read.',
  }),
  'storage.memoryBytes': bytes({
    default: '4 GiB',
    min: 0,
    doc: 'Memory for columns, indexes and rows that all threads share, at most half of the machine; 0 reads all from LMDB.',
  }),
  'storage.imageMinutes': number({
    default: 10,
    min: 0,
    max: 10_000,
    doc: 'Least time between two images of that memory in the folder of the store, which make the next start fast; 0 for none.',
  }),
  'storage.imageChanges': integer({
    default: 1000,
    min: 0,
    doc: 'Changes of entities since the last image without which no other is written, not even when the server stops.',
  }),
  'storage.binaryCacheBytes': bytes({
    default: '64 MiB',
    min: 0,
    doc: 'Memory for pieces of the images and blobs that were sent last.',
  }),
  'storage.allowLoss': flag({ default: false, doc: 'Let a changed model delete the data of what it no longer names.' }),

  'protocol.dateOnlyFormat': choice({
    default: 'iso',
    of: ['iso', 'dmy'],
    doc: 'How dates without time read: `2020-01-31`, or `31!1!2020` as older clients expect.',
  }),

  'query.timeoutMs': integer({ default: 30_000, min: 1, doc: 'Time that a query may take.' }),
  'query.maxRowsExamined': integer({ default: 50_000_000, min: 1, doc: 'Rows that a query may look at.' }),
  'query.maxExpandDepth': integer({
    default: 8,
    min: 1,
    doc: 'Relations in a row that `$expand` and `$attributes` follow.',
  }),
  'query.maxAnswerBytes': bytes({ default: '256 MiB', min: 1024, doc: 'Greatest answer.' }),

  'pool.threads': integer({
    default: 0,
    min: 0,
    doc: 'Threads for queries that cost more; 0 for one less than the processor has cores, at least two.',
  }),
  'pool.queueLimit': integer({
    default: 256,
    min: 0,
    doc: 'Queries that wait for one of these threads; beyond it the server answers 503.',
  }),
  'pool.inlineCostMs': number({
    default: 0.2,
    min: 0,
    doc: 'Expected cost in milliseconds up to which a query is answered without these threads; 0 for none.',
  }),
  'pool.heapBytes': bytes({
    default: '1 GiB',
    min: 2 ** 25,
    doc: 'Heap of each of these threads; one that needs more is ended and replaced.',
  }),

  'vector.indexMinRows': integer({
    default: 20_000,
    min: 0,
    doc: 'Entities from which on an index of vectors is made; fewer are scanned as fast.',
  }),
  'vector.recall': number({
    default: 0.995,
    min: 0,
    doc: 'Share of the 100 nearest that an index has to find, when it is tried, to be used; beyond 1 none ever is.',
  }),

  'functions.threads': integer({
    default: 0,
    min: 0,
    doc: 'Threads for code of plugins; 0 for one less than the processor has cores, at least two.',
  }),
  'functions.queueLimit': integer({
    default: 256,
    min: 0,
    doc: 'Calls that wait for one of these threads; beyond it the server answers 503.',
  }),
  'functions.deadlineSeconds': number({
    default: 5,
    min: 0.001,
    doc: 'Time that a function may take unless it says otherwise; then its thread is ended and replaced.',
  }),
  'functions.memoryBytes': bytes({
    default: '256 MiB',
    min: 2 ** 24,
    doc: 'Memory for the code of plugins in each of these threads; one that needs more is ended and replaced.',
  }),
  'functions.breakerLimit': integer({
    default: 3,
    min: 1,
    doc: 'Threads that a function ends in a row before it is refused for a while.',
  }),
  'functions.breakerPauseSeconds': number({ default: 30, min: 0, doc: 'For how long it is refused then.' }),

  'entitySet.lifetimeSeconds': integer({
    default: 7200,
    min: 1,
    doc: 'Time without use after which an entity set ends, unless `$timeout` says otherwise.',
  }),
  'entitySet.recreatedLifetimeSeconds': integer({
    default: 600,
    min: 1,
    doc: 'The same for a set that was made again by its saved query.',
  }),
  'entitySet.maxLifetimeSeconds': integer({
    default: 2_592_000,
    min: 1,
    doc: 'Greatest `$timeout`; a greater one counts as this.',
  }),
  'entitySet.savedLifetimeSeconds': integer({
    default: 2_592_000,
    min: 1,
    doc: 'Time for which a saved query is kept after the end of its entity set.',
  }),
  'entitySet.memoryBytes': bytes({
    default: '256 MiB',
    min: 0,
    doc: 'Memory for entity sets; those used longest ago are read from the store when they are used again.',
  }),

  'upload.maxBytes': bytes({ default: '256 MiB', min: 1, doc: 'Greatest file that is uploaded.' }),
  'upload.maxReceiveMs': integer({
    default: 3_600_000,
    min: 1000,
    doc: 'Time for an upload to arrive; each piece of it has `server.requestTimeoutMs`.',
  }),
  'upload.lifetimeSeconds': integer({
    default: 120,
    min: 1,
    doc: 'Time after which an upload that is not attached ends, unless `$timeout` says otherwise.',
  }),
  'upload.maxLifetimeSeconds': integer({
    default: 86_400,
    min: 1,
    doc: 'Greatest `$timeout` of an upload; a greater one counts as this.',
  }),
  'upload.maxConcurrent': integer({
    default: 2_000,
    min: 1,
    doc: 'Uploads under way; beyond it the server answers 503.',
  }),
  'upload.maxPendingBytes': bytes({
    default: '4 GiB',
    min: 1,
    doc: 'Disk for uploads that have not expired; beyond it the server answers 503.',
  }),

  'write.queueBytes': bytes({
    default: '256 MiB',
    min: 1024,
    doc: 'Bodies that wait to be written; beyond it the server answers 503.',
  }),

  'session.cookieName': text({
    default: '4DSID_tesser',
    pattern: '^[A-Za-z0-9_-]{1,64}$',
    doc: 'Name of the cookie of a session; `WASID4D` is understood beside it.',
  }),
  'session.sameSite': choice({
    default: 'lax',
    of: ['lax', 'strict', 'none'],
    doc: 'Whether browsers send the cookie with requests from pages of other sites; `none` needs TLS.',
  }),
  'session.idleMinutes': integer({ default: 60, min: 1, doc: 'Minutes without a request after which a session ends.' }),
  'session.maxIdleMinutes': integer({
    default: 10_080,
    min: 1,
    doc: 'Greatest idle time that a login may ask for, in minutes.',
  }),
  'session.lifetimeHours': integer({
    default: 720,
    min: 1,
    doc: 'Hours after which a session ends although it is used.',
  }),
  'session.guestsPerAddress': integer({
    default: 1000,
    min: 1,
    doc: 'Guests of one address of whom something is kept; the oldest go when there are more.',
  }),

  'auth.directoryFile': path('File of users, groups and API keys; `tesser user` and `tesser key` write it.'),
  'auth.rolesFile': path('File of privileges, roles and permissions; `roles.json` beside the config file by default.'),
  'auth.jwt.keyFile': path('Public key that verifies JSON Web Tokens: PEM, or a JSON Web Key Set.'),
  'auth.jwt.issuer': text<string | undefined>({ default: undefined, doc: 'Issuer that a token must name.' }),
  'auth.jwt.audience': text<string | undefined>({ default: undefined, doc: 'Audience that a token must name.' }),
  'auth.jwt.algorithms': textList({
    default: ['RS256', 'PS256', 'ES256', 'EdDSA'],
    doc: 'Signature algorithms that are taken.',
  }),

  'quota.requestsPerSession': integer({ default: 0, min: 0, doc: 'Requests of one session in a minute; 0: no limit.' }),
  'quota.requestsPerAddress': integer({ default: 0, min: 0, doc: 'Requests of one address in a minute; 0: no limit.' }),
  'quota.costPerSession': integer({
    default: 0,
    min: 0,
    doc: 'Rows that the queries of one session may examine in a minute; 0: no limit.',
  }),
  'quota.costPerAddress': integer({
    default: 0,
    min: 0,
    doc: 'Rows that the queries of one address may examine in a minute; 0: no limit.',
  }),
  'quota.concurrentPerAddress': integer({
    default: 0,
    min: 0,
    doc: 'Requests of one address that are answered at a time; 0: no limit.',
  }),
  'quota.entitySetsPerSession': integer({
    default: 0,
    min: 0,
    doc: 'Entity sets that one session may have at a time; 0: no limit.',
  }),

  plugins: pluginList(
    'Plugins to load after the built-in ones: npm names, paths, or `{ "plugin": …, "options": { … } }`.',
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

/** Flags with a short name of their own. */
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
