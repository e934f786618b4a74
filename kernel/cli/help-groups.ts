import { type Command, Help } from 'commander'
import type { ConfigKey } from '../../config/schema.ts'

/** Headings of options in the help of a command. */
export const FIRST_OPTIONS = 'Options that most servers need:'
const OWN_OPTIONS = 'Options:'
export const WHICH_SERVER = 'Which server:'
/** Heading of the few options of the configuration that a command other than a server has. */
export const CONFIGURATION = 'Configuration:'

/** The options of the configuration that come first; the reference begins with the same ones. */
export const FIRST_KEYS: readonly ConfigKey[] = [
  'model',
  'data',
  'server.port',
  'server.host',
  'plugins',
  'auth.rolesFile',
  'auth.directoryFile',
  'server.allowedHosts',
  'log.level',
  'backup.folder',
]

type Section<Key> = Key extends `${infer Head}.${string}` ? Head : Key

/** Topics by the sections of the configuration. */
const TOPICS: Readonly<Record<Section<ConfigKey>, string>> = {
  model: 'Model and plugins:',
  data: 'Model and plugins:',
  connections: 'Model and plugins:',
  plugins: 'Model and plugins:',
  disablePlugins: 'Model and plugins:',
  server: 'HTTP server:',
  log: 'Log:',
  metrics: 'Metrics:',
  mcp: 'Agents:',
  storage: 'Store:',
  backup: 'Backups:',
  protocol: 'Protocol:',
  query: 'Queries:',
  pool: 'Queries:',
  vector: 'Queries:',
  functions: 'Plugin code:',
  entitySet: 'Entity sets:',
  upload: 'Uploads:',
  write: 'Writes:',
  session: 'Sessions:',
  auth: 'Logins and rights:',
  quota: 'Quotas:',
  nodes: 'Several servers:',
}

/** Heading of an option in the help of a server. */
export const topicOf = (key: ConfigKey): string => TOPICS[key.split('.', 1)[0] as Section<ConfigKey>]

const OF_CONFIGURATION: ReadonlySet<string> = new Set([FIRST_OPTIONS, CONFIGURATION, ...Object.values(TOPICS)])

/** True for options of the configuration, which have a reference of their own. */
export const isOfConfiguration = (heading: string | undefined): boolean =>
  heading !== undefined && OF_CONFIGURATION.has(heading)

/** Place of a group in the help: groups of the command itself come before those of the configuration. */
function rank(heading: string): number {
  if (heading === FIRST_OPTIONS) return 0
  if (heading === OWN_OPTIONS) return 1
  if (heading === WHICH_SERVER) return 3
  return isOfConfiguration(heading) ? 4 : 2
}

/** Sorts the groups in the help of a command and of the commands that are added to it later. */
export const sortHelpGroups = (command: Command): Command =>
  command.configureHelp({
    groupItems(unsorted, visible, groupOf) {
      const groups = Help.prototype.groupItems.call(this, unsorted, visible, groupOf as never) as Map<string, never[]>
      return new Map([...groups].sort(([a], [b]) => rank(a) - rank(b)))
    },
  })
