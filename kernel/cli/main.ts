#!/usr/bin/env node
import { Command, Option } from 'commander'
import { JSON_SCHEMAS, type JsonSchemaName, printJsonSchema } from '../../config/json-schemas.ts'
import { printConfig } from '../../config/print-config.ts'
import packageJson from '../../package.json' with { type: 'json' }
import { addConfigOptions, configOf } from './config-options.ts'
import type { LoadArguments } from './load.ts'
import { FORMATS } from './read-rows.ts'

// What a command needs is imported by its action: without the engine `tesser --help` takes a third of the time.

const print = (line: string): void => void process.stdout.write(`${line}\n`)

const program = new Command('tesser')
  .description('A data server that speaks the 4D REST protocol.')
  .version(packageJson.version)
  .showSuggestionAfterError()
  .showHelpAfterError('(add --help for what would do)')
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
  .option(
    '--print-config',
    'Print the configuration as it results from flags, environment, file and defaults, and stop.',
  )
  .action(async ({ printConfig: isAsked }, command: Command) => {
    const config = configOf(command)
    if (isAsked) print(printConfig(config))
    else await (await import('./start.ts')).start(config, print)
  })

addConfigOptions(program.command('dev'))
  .description('Serve while you write plugins: a change of config, model or plugins starts it anew.')
  .action(async (_, command: Command) => (await import('./dev.ts')).dev(() => configOf(command), print))

const ofStore = /^(model|data|storage\.|protocol\.|write\.)/

const ofCheck = /^(plugins|disablePlugins|auth\.rolesFile)$/

addConfigOptions(program.command('check'), key => ofStore.test(key) || ofCheck.test(key))
  .description('Check config, model, roles, plugins and store, and tell every problem. Changes nothing.')
  .action(async (_, command: Command) => {
    const config = configOf(command)
    const { check } = await import('./check.ts')
    let problems = 0
    for await (const problem of check(config)) {
      problems++
      print(problem)
    }
    print(problems === 0 ? `config, ${config.model} and ${config.data} are all right` : `${problems} problems`)
    if (problems > 0) process.exitCode = 1
  })

addConfigOptions(program.command('load'), key => ofStore.test(key))
  .description('Save the rows of a file as entities. The store must not be served meanwhile.')
  .argument('<file>', 'JSON (an array), NDJSON or CSV with a header line; .gz is unpacked')
  .requiredOption('--into <dataClass>', 'the dataclass')
  .option('--update', 'change the entity when one has the key of a row; otherwise such a row is an error', false)
  .option(
    '--errors <file>',
    'where rows that cannot be saved go, with line and reasons; {file}.errors.ndjson by default',
  )
  .addOption(new Option('--format <format>', 'instead of what the name of the file says').choices(FORMATS))
  .option('--delimiter <character>', 'between CSV fields; a comma by default')
  .addHelpText(
    'after',
    `
Relations are given by the foreign key, or by the key of the related entity. Rows that refer to rows further down are
tried again at the end. Dates are ISO texts, durations milliseconds or hh:mm:ss, images and blobs data: URLs, objects
JSON. An empty CSV field is null, "" an empty text. The exit code is 1 when a row could not be saved.`,
  )
  .action(async (file: string, options: Omit<LoadArguments, 'file'>, command: Command) => {
    const { load } = await import('./load.ts')
    const isComplete = await load(configOf(command), { ...options, file }, process.stdout)
    if (!isComplete) process.exitCode = 1
  })

addConfigOptions(program.command('types'), key => key === 'model' || key === 'plugins')
  .description('Write the TypeScript types of the model, so that classes with wrong names do not compile.')
  .argument('[file]', 'a .d.ts that the compiler sees; - for the standard output', 'tesser-model.d.ts')
  .action(async (file: string, _, command: Command) => (await import('./types.ts')).types(configOf(command), file))

const ofDirectory = /^auth\.directoryFile$/
const list = (text: string): string[] => text.split(',').map(name => name.trim())
const account = (parent: Command, name: string, description: string): Command =>
  addConfigOptions(parent.command(name), key => ofDirectory.test(key)).description(description)
const accounts = () => import('./accounts.ts')
const withGrants = (command: Command): Command =>
  command
    .option('--privileges <a,b>', 'privileges of roles.json', list)
    .option('--roles <a,b>', 'roles of roles.json', list)

const user = program.command('user').description('Users who may log in. A running server sees changes by itself.')
withGrants(account(user, 'add', 'Add a user, or give one a new password.'))
  .argument('<name>')
  .option('--full-name <text>', 'as people read it')
  .option('--id <id>', 'by which older clients know the user')
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
withGrants(account(key, 'create', 'Make a key and print it. It is shown this once.'))
  .argument('<name>')
  .option('--expires <yyyy-mm-dd>', 'first day on which it is refused')
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
  .description('Make something to begin with.')
  .command('plugin')
  .description('Make a package with a plugin and a test that passes.')
  .argument('<name>', 'its npm name, for example acme-geo or @acme/geo')
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
      throw new Error(`there is no schema "${name}"; ${Object.keys(JSON_SCHEMAS).join(' or ')} would do`)
    process.stdout.write(printJsonSchema(name as JsonSchemaName))
  })

try {
  await program.parseAsync()
} catch (error) {
  // What the user can mend says how in its message; of a bug of ours only the stack helps.
  const isBug = [TypeError, RangeError, ReferenceError].some(type => error instanceof type)
  process.stderr.write(
    `tesser: ${error instanceof Error && !isBug ? error.message : ((error as Error)?.stack ?? error)}\n`,
  )
  process.exitCode = 1
}
