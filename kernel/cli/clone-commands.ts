import { type Command, Option } from 'commander'
import type { Config } from '../../config/load-config.ts'
import type { CloneDatabaseArguments } from './clone-database/clone-database.ts'
import type { CloneServerArguments } from './clone-server/clone-server.ts'
import { addConfigOptions, configOf, ofStore } from './config-options.ts'
import { FAILED, print } from './outcome.ts'
import { addPair, addTo, numberFrom, UsageError } from './option-values.ts'

/** Options of `tesser clone` for one kind of source. */
const CLONE_OPTIONS = {
  server: {
    of: 'servers',
    names: [
      'key',
      'user',
      'loginFunction',
      'header',
      'requests',
      'timeout',
      'passes',
      'follow',
      'keepCalculated',
      'dangling',
    ],
  },
  database: { of: 'databases', names: ['modelOnly', 'only', 'table', 'view', 'errors'] },
} as const

/** `tesser clone` and `model`. */
export function addCloneCommands(program: Command): void {
  addConfigOptions(program.command('clone'), key => ofStore.test(key))
    .description(
      'Create a model file (--model) and a store (--data) from a running server or a database. The source is only read.',
    )
    .argument(
      '<source>',
      'https://… of a 4D, Qodly or Tesser server; postgres://user@host/database, mysql://user@host/database; or a SQLite file',
    )
    .option('--resume', 'continue an interrupted copy', false)
    .optionsGroup(`Options for ${CLONE_OPTIONS.server.of}:`)
    .addOption(new Option('--key <key>', 'API key or token, sent as Authorization: Bearer').env('TESSER_KEY'))
    .option('--user <name>', 'log in with this name; asks for the password, unless TESSER_PASSWORD has it')
    .option('--login-function <name>', 'datastore function that logs in with [user, password], such as authentify')
    .option('--header <header>', 'header of each request, "Name: value"; can be repeated', addTo)
    .option('--requests <n>', 'number of requests at the same time', numberFrom(1, 16), 2)
    .option('--timeout <seconds>', 'maximum time for an answer', numberFrom(1, 3600), 60)
    .option(
      '--passes <n>',
      'maximum number of comparisons after the copy, until nothing has changed meanwhile',
      numberFrom(1, 1000),
      10,
    )
    .addOption(
      new Option(
        '--follow [seconds]',
        'keep comparing after the copy, every 10 seconds by default, until Ctrl+C or SIGTERM; then finish the store',
      )
        .preset('10')
        .argParser(numberFrom(1, 86_400)),
    )
    .option('--keep-calculated', 'store the current values of calculated attributes', false)
    .addOption(
      new Option(
        '--dangling <what>',
        'foreign keys without a related entity: keep them without the relation, or set them to null',
      )
        .choices(['keep', 'null'])
        .default('keep'),
    )
    .optionsGroup(`Options for ${CLONE_OPTIONS.database.of}:`)
    .option('--model-only', 'write only the model, and copy no data', false)
    .option('--only <table>', 'a table to copy; repeat it for several; all by default', addTo)
    .option('--table <old=New>', 'dataclass name for a table; repeat it for several', addPair('table'))
    .option('--view <name=key>', 'a view to copy, and its key column, if it has one', addPair('view'))
    .option('--errors <folder>', 'folder for files of rows that cannot be saved; the working directory by default')
    .addHelpText(
      'after',
      `
For a server, the model file must not exist; for a database, an existing model file is used as it is. The command lists what a model cannot express.
Passwords: TESSER_PASSWORD for a server, PGPASSWORD, .pgpass or MYSQL_PWD for a database, or a prompt on the terminal.
The exit code is 1 if an entity or a row could not be saved.`,
    )
    .action(async (source: string, options: CloneOptions, command: Command) => {
      const kind = /^https?:/i.test(source) ? 'server' : 'database'
      const otherOptions = CLONE_OPTIONS[kind === 'server' ? 'database' : 'server']
      const wrong = otherOptions.names.find(name => command.getOptionValueSource(name) === 'cli')
      if (wrong !== undefined) {
        const { flags } = command.options.find(option => option.attributeName() === wrong)!
        throw new UsageError(`${flags} is for ${otherOptions.of}; ${CLONE_OPTIONS[kind].of} do not have it`)
      }
      const { stopSignal } = await import('./start.ts')
      const stop = new AbortController()
      void stopSignal().then(() => stop.abort())
      const isComplete =
        kind === 'server'
          ? await cloneServer(source, options, configOf(command), stop.signal)
          : await cloneDatabase(source, options, configOf(command), stop.signal)
      if (!isComplete) process.exitCode = FAILED
    })

  program
    .command('model')
    .description('Write the model of a 4D structure: a catalog.4DCatalog, or an exported structure definition.')
    .argument('<file>', 'the structure, as XML')
    .option('--out <file>', 'file to write, which must not exist; the standard output by default')
    .action(async (file: string, { out }: { out?: string }) =>
      (await import('./model.ts')).model(file, out, note => process.stderr.write(`${note}\n`)),
    )
}

type CloneOptions = Omit<CloneServerArguments, 'server' | 'credentials' | 'headers' | 'timeoutSeconds'> & {
  user?: string
  loginFunction?: string
  header?: string[]
  timeout: number
} & Omit<CloneDatabaseArguments, 'source' | 'names' | 'views'> & {
    table?: Record<string, string>
    view?: Record<string, string | null>
  }

async function cloneServer(
  server: string,
  { user, loginFunction, header, timeout, ...options }: CloneOptions,
  config: Config,
  signal: AbortSignal,
): Promise<boolean> {
  const { cloneServer } = await import('./clone-server/clone-server.ts')
  const password = user === undefined ? undefined : await (await import('./clone-server/log-in.ts')).passwordOf(user)
  const credentials = user !== undefined && password !== undefined ? { user, password, loginFunction } : undefined
  const settings = { ...options, server, credentials, headers: header, timeoutSeconds: timeout }
  return cloneServer(config, settings, print, signal)
}

async function cloneDatabase(
  source: string,
  { table, view, ...options }: CloneOptions,
  config: Config,
  signal: AbortSignal,
): Promise<boolean> {
  const { cloneDatabase } = await import('./clone-database/clone-database.ts')
  // A password in the address is hidden from lists of processes.
  process.title = 'tesser clone'
  return cloneDatabase(config, { ...options, source, names: table, views: view }, print, signal)
}
