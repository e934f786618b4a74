#!/usr/bin/env node
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Command, Option } from 'commander'
import type { Config } from '../../config/load-config.ts'
import { DATE_ORDERS, DECIMALS } from '../../engine/import/foreign-values.ts'
import { FORMATS } from '../../engine/import/row-file.ts'
import { EXPORT_FORMATS } from './export-table/export-format.ts'
import { TABLE_FORMATS } from '../../engine/import/table-file.ts'
import { JSON_SCHEMAS, type JsonSchemaName, printJsonSchema } from '../../config/json-schemas.ts'
import { printConfig } from '../../config/print-config.ts'
import { counted } from '../../engine/base/counted.ts'
import { suggestion } from '../../engine/base/suggestion.ts'
import { describeSystemError } from '../../engine/base/system-error.ts'
import packageJson from '../../package.json' with { type: 'json' }
import { addConfigOptions, configOf } from './config-options.ts'
import type { BackupArguments } from './backup.ts'
import type { ClientArguments } from './client.ts'
import type { CloneDatabaseArguments } from './clone-database/clone-database.ts'
import type { CloneServerArguments } from './clone-server/clone-server.ts'
import type { LoadArguments } from './load.ts'

// The action of a command imports its modules: without the engine `tesser --help` takes a third of the time.

const print = (line: string): void => void process.stdout.write(`${line}\n`)

/** A failure that may not recur on another try. */
const FAILED = 1
/** Flags, configuration, model, roles or plugins are unusable: another try changes nothing. */
const UNUSABLE = 2
const UNUSABLE_ERRORS = /^(Config|Model|Roles|Plugin|Declaration|Directory|Migration|Source|Usage|Input)Error$/

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

class UsageError extends Error {
  override readonly name = 'UsageError'
}

const program = new Command('tesser')
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : UNUSABLE))
  .description('A data server that speaks the 4D REST protocol.')
  .version(packageJson.version)
  .showSuggestionAfterError()
  .showHelpAfterError('(--help lists the commands and options)')
  .addHelpText(
    'after',
    `
Examples:
  tesser start                                     the demo, at http://127.0.0.1:8080/rest
  tesser start --model model.json --data store     your own model
  tesser load people.csv --into Person             rows from a file; stop the server first
  tesser check                                     config, model, roles, plugins and store

Environment:
  Every option of the configuration has a variable: server.port is TESSER_SERVER_PORT or TESSER_PORT.
  TESSER_CONFIG names the config file. Flags come before variables, variables before the file.`,
  )

addConfigOptions(program.command('start', { isDefault: true }))
  .description('Serve. Without model and config file: the demo.')
  // commander passes unknown commands to the default one.
  .allowExcessArguments()
  .option(
    '--print-config',
    'Print the configuration that results from flags, environment, file and defaults, and stop.',
  )
  .option('--check', 'List what a start would do, also to the store, and every problem, then stop. Changes nothing.')
  .action(async ({ printConfig: isPrinted, check: isChecked }, command: Command) => {
    if (command.args.length > 0) throw unknownCommand(command.args[0]!)
    const config = configOf(command)
    if (isPrinted) print(printConfig(config))
    else if (isChecked) await checked(config, { of: 'start', mustExist: false })
    else await (await import('./start.ts')).start(config, print)
  })

addConfigOptions(program.command('dev'))
  .description('Serve while you write plugins: a change of config, model or plugins restarts it.')
  .action(async (_, command: Command) => (await import('./dev.ts')).dev(() => configOf(command), print))

/** Prints every problem; for `plan` also what a start would do to the store, for `start` also the address at which it would listen. */
async function checked(
  config: Config,
  { of, mustExist }: { of: 'state' | 'plan' | 'start'; mustExist: boolean },
): Promise<void> {
  const [{ check, checkAddress }, { ProgressDisplay }] = await Promise.all([
    import('./check.ts'),
    import('./progress.ts'),
  ])
  const progress = new ProgressDisplay(process.stderr)
  let problems = 0
  const tell = async (found: AsyncIterable<string>): Promise<void> => {
    for await (const problem of found) {
      problems++
      print(problem)
    }
  }
  await tell(check(config, { mustExist, progress, onPlan: of === 'state' ? undefined : print }))
  if (of === 'start') await tell(checkAddress(config, print))
  if (problems > 0) print(counted(problems, 'problem'))
  else if (existsSync(join(config.data, 'data.mdb'))) print(`config, ${config.model} and ${config.data} are all right`)
  else print(`config and ${config.model} are all right; no store was checked, there is none in ${config.data} yet`)
  if (problems > 0) process.exitCode = FAILED
}

function unknownCommand(name: string): Error {
  const names = program.commands.map(each => each.name())
  if (program.args[0] === 'start') return new UsageError(`"start" takes no arguments; "${name}" is one`)
  return new UsageError(`there is no command "${name}"${suggestion(name, names) || '; tesser --help lists them'}`)
}

const ofStore = /^(model|data|storage\.|protocol\.|write\.)/

const ofCheck = /^(plugins|disablePlugins|auth\.rolesFile|auth\.directoryFile)$/

addConfigOptions(program.command('check'), key => ofStore.test(key) || ofCheck.test(key))
  .description('Check config, model, roles, users, keys, plugins and store, and list every problem. Changes nothing.')
  .option(
    '--plan',
    'also list what a start would change in the store to match the model, or that it would create one',
    false,
  )
  .action(async ({ plan }: { plan: boolean }, command: Command) => {
    const config = configOf(command)
    // A store that is named must exist. With --plan it may be one that the first start would create.
    const isNamed = command.getOptionValueSource('data') === 'cli'
    const mustExist = isNamed && !(plan && existsSync(dirname(config.data)))
    await checked(config, { of: plan ? 'plan' : 'state', mustExist })
  })

addConfigOptions(program.command('compact'), key => /^(model|data|storage\.(mapSizeBytes|lock|lockWaitMs))$/.test(key))
  .description('Shrink the file of a store by the space of removed data. The store must not be served meanwhile.')
  .action(async (_, command: Command) => print(await (await import('./compact.ts')).compact(configOf(command))))

addConfigOptions(program.command('migrate'), key => /^server\.(host|port|basePath)$/.test(key))
  .description(
    'Have a running server prepare the change to the model that its file has now; a restart then takes seconds.',
  )
  .option('--url <url>', 'the server; by default the one that the configuration serves on this machine')
  .addOption(new Option('--key <key>', 'API key or token of an administrator').env('TESSER_KEY'))
  .option('--allow-loss', 'also where the changed model loses data; all losses are listed', false)
  .option('--cancel', 'remove what was prepared', false)
  .addHelpText(
    'after',
    `
Edit the model file that the server was started with, and run this command. The server goes on with the old model, and brings a copy of
its store to the new one: as much disk as data.mdb has, and a process of a lower priority. A restart takes the copy, with all
that was written meanwhile. After an interruption the server goes on with it by itself.`,
  )
  .action(async ({ url, ...options }, command: Command) => {
    const [{ migrate }, { serverAddress }] = await Promise.all([import('./migrate.ts'), import('./server-address.ts')])
    if (!(await migrate({ ...options, url: serverAddress(url, configOf(command)) }, print))) process.exitCode = FAILED
  })

const PLACE = 'folder of backups, or s3://bucket/prefix'
const ENDPOINT = [
  '--endpoint <url>',
  'server of the bucket, unless Amazon, such as https://minio.example:9000',
] as const

const backup = addConfigOptions(program.command('backup').usage('[options] <folder>'), key =>
  /^(model|data|storage\.mapSizeBytes|backup\.fullDays|auth\.(rolesFile|directoryFile))$/.test(key),
)
  .description('Make a backup of the store in a folder of backups, also while a server uses it.')
  .argument('[folder]', `${PLACE}; backup.folder of the configuration by default`)
  .option(...ENDPOINT)
  .option('--full', 'copy the data file, also where the commits since the last backup would do', false)
  .option('--keep-days <days>', 'remove backups that are older, unless a younger one needs them', daysOf)
  .addHelpText(
    'after',
    `
A backup has the data file, the images and blobs, and the files of configuration, model, roles and users. Where the log still
has the commits since the last backup (storage.logBytes), those are enough. tesser restore brings a store back.

A bucket needs a key in the environment: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and, for Amazon, AWS_REGION.`,
  )
  .action(async (folder: string | undefined, { full, keepDays }: BackupArguments, command: Command) => {
    const config = configOf(command)
    const place = placeOf(command, folder, config)
    print(await (await import('./backup.ts')).backup(config, { place, full, keepDays }))
  })

backup
  .command('list')
  .description('List the backups of a folder.')
  .argument('<folder>', PLACE)
  .option(...ENDPOINT)
  .action(async (folder: string, _, command: Command) =>
    (await (await import('./backup.ts')).listBackups(placeOf(command, folder))).forEach(print),
  )

addConfigOptions(backup.command('verify'), key => key === 'storage.mapSizeBytes')
  .description('Restore a backup into a temporary folder, and check the store. Exit code 1 when something is wrong.')
  .argument('<folder>', PLACE)
  .argument('[name]', 'name of the backup; the newest by default')
  .option(...ENDPOINT)
  .option('--temp <folder>', 'folder for the restored store; that of the system for temporary files by default')
  .action(async (folder: string, name: string | undefined, { temp }: { temp?: string }, command: Command) => {
    const { verify } = await import('./backup.ts')
    const config = configOf(command)
    const place = placeOf(command, folder, config)
    if (!(await verify(config, { place, name, temp }, print))) process.exitCode = FAILED
  })

addConfigOptions(program.command('restore'), key => /^(model|data|storage\.(mapSizeBytes|allowLoss))$/.test(key))
  .description('Restore a store from backups, into a folder (--data) that is empty or does not exist.')
  .argument('[folder]', `${PLACE}; backup.folder of the configuration by default`)
  .option(...ENDPOINT)
  .option('--backup <name>', 'name of the backup; the newest by default')
  .option('--at <moment>', 'the last state that is not later: a time, such as 2026-01-31T09:30, or a __GlobalStamp')
  .action(
    async (folder: string | undefined, { backup: name, at }: { backup?: string; at?: string }, command: Command) => {
      const config = configOf(command)
      const place = placeOf(command, folder, config)
      print(await (await import('./backup.ts')).restore(config, { place, name, at }))
    },
  )

addConfigOptions(program.command('dump'), key =>
  /^(data|storage\.mapSizeBytes|auth\.(rolesFile|directoryFile))$/.test(key),
)
  .description('Write everything of a store into a folder, in a form that all versions read. A server may be using it.')
  .argument('<folder>', 'folder that is empty or does not exist')
  .option('--with-accounts', 'also roles, users and keys; passwords and keys are hashes', false)
  .action(async (folder: string, { withAccounts }: { withAccounts: boolean }, command: Command) =>
    print(await (await import('./dump.ts')).dump(configOf(command), { folder, withAccounts })),
  )

addConfigOptions(program.command('undump'), key =>
  /^(data|storage\.mapSizeBytes|protocol\.dateOnlyFormat|server\.basePath|auth\.(rolesFile|directoryFile))$/.test(key),
)
  .description('Make a store from a dump, in a folder (--data) that is empty or does not exist.')
  .argument('<folder>', 'folder of the dump')
  .option('--model <file>', 'model of the store, in place of that of the dump')
  .option('--leave-out-unknown', 'leave out what the other model does not have', false)
  .option('--with-accounts', 'also the files of roles, users and keys', false)
  .action(
    async (
      folder: string,
      options: { model?: string; leaveOutUnknown: boolean; withAccounts: boolean },
      command: Command,
    ) => print(await (await import('./dump.ts')).undump(configOf(command), { ...options, folder })),
  )

/** @throws {UsageError} it is not a number of days */
function daysOf(text: string): number {
  const days = text.trim() === '' ? Number.NaN : Number(text)
  if (days >= 0 && days < Number.POSITIVE_INFINITY) return days
  throw new UsageError(`--keep-days ${JSON.stringify(text)}: it is a number of days`)
}

/** The place that a command names, or else the configuration. @throws {UsageError} neither does */
function placeOf(command: Command, given: string | undefined, config?: Config): BackupArguments['place'] {
  const folder = given ?? config?.backup.folder
  if (folder === undefined) throw new UsageError('name the folder of the backups, or set backup.folder')
  // The parent of a command takes a flag that both have.
  return { folder, endpoint: command.optsWithGlobals<{ endpoint?: string }>().endpoint ?? config?.backup.endpoint }
}

interface LoadFlags extends Omit<LoadArguments, 'file' | 'create' | 'columns'> {
  readonly newClass?: string | true
  readonly yes: boolean
  readonly type?: Readonly<Record<string, string>>
  readonly key?: string
  readonly column?: Readonly<Record<string, string | null>>
  readonly relation?: Readonly<Record<string, string>>
}

addConfigOptions(program.command('load'), key => ofStore.test(key))
  .description('Save the rows of a file as entities. The store must not be served meanwhile.')
  .argument(
    '<file>',
    'CSV with a header line, JSON (an array), NDJSON, Excel or Parquet, also .gz or .zst; - for the standard input, or an http address',
  )
  .option('--into <dataClass>', 'the dataclass')
  .option(
    '--new-class [name]',
    'propose a dataclass for the rows, show it, and create it in the model file after a yes',
  )
  .option('--yes', 'create the proposed dataclass without a question', false)
  .option('--type <attribute=type>', 'type of an attribute of the new dataclass: string, day, decimal(2), …', addType)
  .option('--key <attribute>', 'key of the new dataclass')
  .option('--column <name=attribute>', 'attribute of a column; without an attribute the column is left out', addColumn)
  .option(
    '--relation <name=Class.attribute>',
    'a relation is given by that attribute of the related entity, which has an index, in place of its key',
    addRelation,
  )
  .option('--update', 'change the entity that has the key of a row; without this, such a row is an error', false)
  .option(
    '--errors <file>',
    'file for rows that cannot be saved, with line and reasons; {file}.errors.ndjson by default',
  )
  .addOption(
    new Option('--format <format>', 'format of the file; by default from its name').choices([
      ...FORMATS,
      ...TABLE_FORMATS,
    ]),
  )
  .option('--sheet <name>', 'sheet of an Excel file; the first one by default')
  .addOption(new Option('--resume', 'continue an interrupted load of this file').default(false).conflicts('restart'))
  .option('--restart', 'begin with the first row, although a load of this file was interrupted', false)
  .option('--delimiter <character>', 'between CSV fields, or tab; found in the header by default')
  .addOption(
    new Option('--decimal <character>', 'decimal character of numbers in CSV; guessed by default').choices(DECIMALS),
  )
  .addOption(
    new Option('--dates <order>', 'order of day, month and year of dates in CSV; guessed by default').choices(
      DATE_ORDERS,
    ),
  )
  .option('--encoding <name>', 'of the file, such as windows-1252 or utf-16le; by its bytes by default')
  .option('--nulls <a,b>', 'texts of CSV that are null, except in texts, such as N/A; guessed by default', list)
  .addHelpText(
    'after',
    `
Relations are given by the foreign key, or by the key of the related entity. Rows that refer to later rows are tried again
at the end. Dates are ISO texts, durations milliseconds or hh:mm:ss, images and blobs data: URLs, objects JSON. An empty
CSV field is null, "" an empty text. A row with a problem is written to the file of errors, and the others are saved; that
file, corrected, is loaded with the same options. The exit code is 1 when a row could not be saved. An interrupted load
continues with --resume; without it nothing is saved until --restart confirms that all rows are to be loaded once more,
with --update when rows have keys.`,
  )
  .action(async (file: string, options: LoadFlags, command: Command) => {
    const [{ load }, { stopSignal }] = await Promise.all([import('./load.ts'), import('./start.ts')])
    const stop = new AbortController()
    void stopSignal().then(() => stop.abort())
    const { newClass, yes, type, key, column, relation, ...others } = options
    if ((newClass === undefined) === (options.into === undefined))
      throw new UsageError('name the dataclass with --into, or have one created with --new-class')
    const create =
      newClass === undefined ? undefined : { newClass, yes, types: type, key, columns: column, relations: relation }
    const config = configOf(command)
    const isComplete = await load(
      // The demo has its own model.
      create && config.demo ? configOf(command, { model: 'model.json' }) : config,
      { ...others, file, create, columns: column, relations: relation },
      process.stdout,
      stop.signal,
    )
    if (!isComplete) process.exitCode = FAILED
  })

addConfigOptions(program.command('import'), key => /^server\.(host|port|basePath)$/.test(key))
  .description('Save the rows of a file as entities in a running server.')
  .argument('<file>', 'as of tesser load')
  .requiredOption('--into <dataClass>', 'the dataclass')
  .option('--url <url>', 'the server; by default the one that the configuration serves on this machine')
  .addOption(new Option('--key <key>', 'API key or token of an administrator').env('TESSER_KEY'))
  .option('--trial', 'check all rows and save none', false)
  .addOption(
    new Option('--existing <what>', 'a row whose key exists is an error, changes that entity, or is left out')
      .choices(['reject', 'update', 'skip'])
      .default('reject'),
  )
  .option(
    '--column <name=attribute>',
    'attribute of a CSV column; without an attribute the column is left out',
    addColumn,
  )
  .option(
    '--relation <name=Class.attribute>',
    'a relation is given by that attribute of the related entity, which has an index, in place of its key',
    addRelation,
  )
  .option('--errors <file>', 'file for rows that cannot be saved; {file}.errors.ndjson by default')
  .addOption(
    new Option('--format <format>', 'format of the file; by default from its name').choices([
      ...FORMATS,
      ...TABLE_FORMATS,
    ]),
  )
  .option('--sheet <name>', 'sheet of an Excel file; the first one by default')
  .option('--delimiter <character>', 'between CSV fields, or tab; found in the header by default')
  .addOption(
    new Option('--decimal <character>', 'decimal character of numbers in CSV; guessed by default').choices(DECIMALS),
  )
  .addOption(
    new Option('--dates <order>', 'order of day, month and year of dates in CSV; guessed by default').choices(
      DATE_ORDERS,
    ),
  )
  .option('--encoding <name>', 'of the file, such as windows-1252 or utf-16le; by its bytes by default')
  .option('--nulls <a,b>', 'texts of CSV that are null, except in texts, such as N/A; guessed by default', list)
  .action(async (file: string, { column, relation, url, ...options }, command: Command) => {
    const [{ importFile }, { serverAddress }] = await Promise.all([
      import('./import.ts'),
      import('./server-address.ts'),
    ])
    const given = { ...options, file, columns: column, relations: relation, url: serverAddress(url, configOf(command)) }
    if (!(await importFile(given, print))) process.exitCode = FAILED
  })

addConfigOptions(program.command('export'), key => /^server\.(host|port|basePath)$/.test(key))
  .description('Write entities of a running server to a file.')
  .argument('<dataClass>', 'the dataclass')
  .option(
    '--out <file>',
    'file, whose name says its format: .csv, .ndjson, .json, also .gz and .zst; .xlsx, .parquet, .sqlite; the standard output by default',
  )
  .option('--url <url>', 'the server; by default the one that the configuration serves on this machine')
  .addOption(new Option('--key <key>', 'API key or token').env('TESSER_KEY'))
  .addOption(new Option('--format <format>', 'format; CSV for the standard output').choices(EXPORT_FORMATS))
  .option('--filter <query>', 'only these entities, as $filter')
  .option('--order <attributes>', 'order, as $orderby')
  .option('--attributes <list>', 'attributes, also of related entities, as $attributes: name,employer.name')
  .option('--set <id>', 'the entities of an entity set')
  .option('--top <count>', 'the first entities; all by default', Number)
  .action(async (dataClass: string, { url, ...options }, command: Command) => {
    const [{ exportEntities }, { serverAddress }] = await Promise.all([
      import('./export.ts'),
      import('./server-address.ts'),
    ])
    const given = { ...options, dataClass, url: serverAddress(url, configOf(command)) }
    const outcome = await exportEntities(given, process.stdout)
    if (outcome !== undefined) print(outcome)
  })

/** Adds a value of an option that is given several times. */
function addTo(text: string, others: readonly string[] = []): string[] {
  return [...others, text]
}

/** Adds `name=value` to those that were given before. Without a value: null. */
function addPair(option: string) {
  return (text: string, others: Record<string, string | null> = {}): Record<string, string | null> => {
    const at = text.lastIndexOf('=')
    const name = at < 0 ? text : text.slice(0, at)
    if (name === '' || (at < 0 && option === 'table'))
      throw new UsageError(
        `--${option} ${text}: it is the name of a ${option}, "=" and ${option === 'table' ? 'that of the dataclass' : 'a column'}`,
      )
    return { ...others, [name]: at < 0 ? null : text.slice(at + 1) }
  }
}

function list(text: string): string[] {
  return text.split(',').map(name => name.trim())
}

/** Adds `relation=Class.attribute` to the relations that were given before. */
function addRelation(text: string, others: Record<string, string> = {}): Record<string, string> {
  const at = text.indexOf('=')
  if (at < 1)
    throw new UsageError(`--relation ${text}: it is the name of a relation, "=", a dataclass, "." and an attribute`)
  return { ...others, [text.slice(0, at)]: text.slice(at + 1) }
}

/** Adds `attribute=type` to the types that were given before. */
function addType(text: string, others: Record<string, string> = {}): Record<string, string> {
  const at = text.lastIndexOf('=')
  if (at < 1) throw new UsageError(`--type ${text}: it is the name of an attribute, "=" and a type`)
  return { ...others, [text.slice(0, at)]: text.slice(at + 1) }
}

/** Adds `Name=attribute` to the columns that were given before. */
function addColumn(text: string, others: Record<string, string | null> = {}): Record<string, string | null> {
  const at = text.lastIndexOf('=')
  if (at < 1) throw new UsageError(`--column ${text}: it is the name of a column, "=" and an attribute or nothing`)
  return { ...others, [text.slice(0, at)]: text.slice(at + 1) || null }
}

addConfigOptions(program.command('types'), key => key === 'model' || key === 'plugins')
  .description('Write the TypeScript types of the model, so that classes with wrong names do not compile.')
  .argument('[file]', 'a .d.ts that the compiler reads; - for the standard output', 'tesser-model.d.ts')
  .action(async (file: string, _, command: Command) => (await import('./types.ts')).types(configOf(command), file))

addConfigOptions(program.command('clone'), key => ofStore.test(key))
  .description(
    'Make a model file (--model) and a store (--data) of a running server or a database, which is only read.',
  )
  .argument(
    '<source>',
    'https://… of a 4D, Qodly or Tesser server; postgres://user@host/database, mysql://user@host/database; or a SQLite file',
  )
  .option('--resume', 'continue an interrupted copy', false)
  .optionsGroup(`Options for ${CLONE_OPTIONS.server.of}:`)
  .addOption(new Option('--key <key>', 'API key or token, sent as Authorization: Bearer').env('TESSER_KEY'))
  .option('--user <name>', 'log in; the password is asked for, unless TESSER_PASSWORD has it')
  .option('--login-function <name>', 'datastore function that logs in with [user, password], such as authentify')
  .option('--header <header>', 'header of each request, "Name: value"; can be repeated', addTo)
  .option('--requests <n>', 'requests at once', numberFrom(1, 16), 2)
  .option('--timeout <seconds>', 'time for an answer', numberFrom(1, 3600), 60)
  .option('--passes <n>', 'comparisons after the copy, until nothing has changed meanwhile', numberFrom(1, 1000), 10)
  .addOption(
    new Option(
      '--follow [seconds]',
      'go on comparing after the copy, every 10 seconds by default, until Ctrl+C or SIGTERM; then finish the store',
    )
      .preset('10')
      .argParser(numberFrom(1, 86_400)),
  )
  .option('--keep-calculated', 'store the present values of calculated attributes', false)
  .addOption(
    new Option('--dangling <what>', 'foreign keys that lead nowhere: keep them without the relation, or make them null')
      .choices(['keep', 'null'])
      .default('keep'),
  )
  .optionsGroup(`Options for ${CLONE_OPTIONS.database.of}:`)
  .option('--model-only', 'write the model, and copy nothing', false)
  .option('--only <table>', 'a table that is copied, once for each; all by default', addTo)
  .option('--table <old=New>', 'name of the dataclass of a table, once for each', addPair('table'))
  .option('--view <name=key>', 'a view that is copied, and the column that is its key, if it has one', addPair('view'))
  .option('--errors <folder>', 'folder for files of rows that cannot be saved; the working directory by default')
  .addHelpText(
    'after',
    `
The model file must not exist for a server; that of a database is used as it is if it exists. What a model cannot express is listed.
Passwords: TESSER_PASSWORD for a server, PGPASSWORD, .pgpass or MYSQL_PWD for a database, or an answer on the terminal.
The exit code is 1 when an entity or a row could not be saved.`,
  )
  .action(async (source: string, options: CloneOptions, command: Command) => {
    const kind = /^https?:/i.test(source) ? 'server' : 'database'
    const others = CLONE_OPTIONS[kind === 'server' ? 'database' : 'server']
    const wrong = others.names.find(name => command.getOptionValueSource(name) === 'cli')
    if (wrong !== undefined) {
      const { flags } = command.options.find(option => option.attributeName() === wrong)!
      throw new UsageError(`${flags} is for ${others.of}; ${CLONE_OPTIONS[kind].of} do not have it`)
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
  const given = { ...options, server, credentials, headers: header, timeoutSeconds: timeout }
  return cloneServer(config, given, print, signal)
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

/** Reads an integer of an option. */
function numberFrom(least: number, most: number): (text: string) => number {
  return text => {
    const number = Number(text)
    if (Number.isInteger(number) && number >= least && number <= most) return number
    throw new UsageError(`${JSON.stringify(text)}: give an integer from ${least} to ${most}`)
  }
}

program
  .command('model')
  .description('Write the model of a 4D structure: a catalog.4DCatalog, or an exported structure definition.')
  .argument('<file>', 'the structure, as XML')
  .option('--out <file>', 'file to write, which must not exist; the standard output by default')
  .action(async (file: string, { out }: { out?: string }) =>
    (await import('./model.ts')).model(file, out, note => process.stderr.write(`${note}\n`)),
  )

addConfigOptions(program.command('mcp'), key => /^server\.(host|port|basePath)$/.test(key))
  .description(
    'Speak the Model Context Protocol over the standard input and output, for desktop clients of a running server.',
  )
  .option('--url <url>', 'the server; by default the one that the configuration serves on this machine')
  .addOption(
    new Option('--key <key>', 'API key or token (tesser key create); without one as a guest').env('TESSER_KEY'),
  )
  .action(async ({ url, key }: { url?: string; key?: string }, command: Command) => {
    const { bridge, mcpAddress } = await import('./mcp.ts')
    await bridge(mcpAddress(url, configOf(command)), key, process.stdin, print)
  })

addConfigOptions(program.command('openapi'), key => /^(model|plugins|server\.basePath|session\.cookieName)$/.test(key))
  .description('Write the OpenAPI 3.1 document of the model and the classes of plugins, as $openapi returns it.')
  .option('--out <file>', 'file to write; the standard output by default')
  .action(async ({ out }: { out?: string }, command: Command) =>
    (await import('./openapi.ts')).openapi(configOf(command), out),
  )

addConfigOptions(program.command('client'), key => key === 'model' || key === 'plugins')
  .description('Write a typed client: one TypeScript file without dependencies, with the types of the model.')
  .option('--out <file>', 'file to write; - for the standard output', 'client.ts')
  .option(
    '--url <url>',
    'ask a running server, such as http://127.0.0.1:8080/rest, for what a guest or the key may see',
  )
  .addOption(new Option('--key <key>', 'API key or token for --url').env('TESSER_KEY'))
  .addOption(new Option('--dates <form>', 'type of dates with a time').choices(['date', 'text']).default('date'))
  .option('--module', 'import the runtime from tesser/client, in place of writing it into the file', false)
  .action(async (options: ClientArguments, command: Command) =>
    print(await (await import('./client.ts')).client(() => configOf(command), options)),
  )

const ofDirectory = /^auth\.(directoryFile|rolesFile|login\.maxPasswordBytes)$/
const account = (parent: Command, name: string, description: string): Command =>
  addConfigOptions(parent.command(name), key => ofDirectory.test(key)).description(description)
const accounts = () => import('./accounts.ts')
const withGrants = (command: Command): Command =>
  command
    .option('--privileges <a,b>', 'privileges of roles.json', list)
    .option('--roles <a,b>', 'roles of roles.json', list)

const user = program.command('user').description('Users who may log in. A running server notices changes.')
withGrants(account(user, 'add', 'Add a user, or give one a new password.'))
  .argument('<name>')
  .option('--full-name <text>', 'name for display')
  .option('--id <id>', 'identifier of the user for older clients')
  .option('--groups <a,b>', 'groups that the user belongs to', list)
  .option('--password-stdin', 'read the password from the standard input')
  .action(async (name: string, { passwordStdin, ...options }, command: Command) =>
    print(
      await (await accounts()).addUser(configOf(command), name, {
        ...options,
        passwordFrom: passwordStdin && process.stdin,
      }),
    ),
  )
account(user, 'remove', 'Remove a user.')
  .argument('<name>')
  .action(async (name: string, _, command: Command) => print((await accounts()).removeUser(configOf(command), name)))
account(user, 'list', 'List the users.').action(async (_, command: Command) =>
  (await accounts()).listUsers(configOf(command)).forEach(print),
)

const key = program.command('key').description('API keys, which machines send as Authorization: Bearer.')
withGrants(account(key, 'create', 'Create a key and print it. It is shown only once.'))
  .argument('<name>')
  .option('--expires <yyyy-mm-dd>', 'first day on which the key is refused')
  .action(async (name: string, options, command: Command) =>
    print((await accounts()).addKey(configOf(command), name, options)),
  )
account(key, 'revoke', 'Revoke a key.')
  .argument('<name>')
  .action(async (name: string, _, command: Command) => print((await accounts()).revokeKey(configOf(command), name)))
account(key, 'list', 'List the keys.').action(async (_, command: Command) =>
  (await accounts()).listKeys(configOf(command)).forEach(print),
)

program
  .command('new')
  .description('Create a package to start from.')
  .command('plugin')
  .description('Create a package with a plugin and a test that passes.')
  .argument('<name>', 'npm name of the package, for example acme-geo or @acme/geo')
  .action(async (name: string) => {
    const { newPlugin } = await import('./new-plugin.ts')
    const folder = newPlugin(name)
    print(`${folder}/ is ready:\n\n  cd ${folder}\n  npm install\n  npm test\n  npm run dev`)
  })

program
  .command('schema')
  .description('Print the JSON Schema of a file, for editors.')
  .argument('<file>', Object.keys(JSON_SCHEMAS).join(' or '))
  .action((name: string) => {
    if (!Object.hasOwn(JSON_SCHEMAS, name))
      throw new UsageError(`there is no schema "${name}"; use ${Object.keys(JSON_SCHEMAS).join(' or ')}`)
    process.stdout.write(printJsonSchema(name as JsonSchemaName))
  })

try {
  await program.parseAsync()
} catch (error) {
  // Errors that the user can correct say how in their message; for a bug of ours only the stack helps.
  const isBug = [TypeError, RangeError, ReferenceError].some(type => error instanceof type)
  process.stderr.write(
    `tesser: ${error instanceof Error && !isBug ? describeSystemError(error) : ((error as Error)?.stack ?? error)}\n`,
  )
  process.exitCode = error instanceof Error && UNUSABLE_ERRORS.test(error.name) ? UNUSABLE : FAILED
}
