import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Argument, Command, Option } from 'commander'
import type { Config } from '../../config/load-config.ts'
import { JSON_SCHEMAS, type JsonSchemaName, printJsonSchema } from '../../config/json-schemas.ts'
import { printConfig } from '../../config/print-config.ts'
import { quantity } from '../../engine/base/counted.ts'
import { suggestion } from '../../engine/base/suggestion.ts'
import packageJson from '../../package.json' with { type: 'json' }
import { addAccountCommands } from './account-commands.ts'
import { addAttachCommand } from './attach-commands.ts'
import { addBackupCommands } from './backup-commands.ts'
import { addCloneCommands } from './clone-commands.ts'
import {
  addAllConfigOptions,
  addConfigOptions,
  addServerOptions,
  addUrlOptions,
  configOf,
  ofStore,
  serverOf,
} from './config-options.ts'
import { sortHelpGroups } from './help-groups.ts'
import { addJobCommands } from './job-commands.ts'
import { UsageError } from './option-values.ts'
import { exitOnceWritten, FAILED, print, UNUSABLE } from './outcome.ts'
import { addRowCommands } from './row-commands.ts'
import type { ClientArguments } from './client.ts'
import type { Shell } from './completion/completion.ts'

// The action of a command imports its modules: without the engine `tesser --help` takes a third of the time.

/** The command `tesser` with all of its commands. */
export const program = sortHelpGroups(new Command('tesser'))
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
  tesser --empty                                   an empty model in the working directory
  tesser init my-app                               a folder with an application to start from
  tesser start --model model.json --data store     your own model
  tesser load people.csv --into Person             rows of a file; stop the server first
  tesser check                                     config, model, roles, plugins and store

Environment:
  Every option of the configuration has a variable: server.port is TESSER_SERVER_PORT or TESSER_PORT.
  TESSER_CONFIG names the config file. Flags take precedence over variables, variables over the file.`,
  )

/** Help text about the limits of `tesser check` and `tesser start --check`. */
const NOT_CHECKED = `
Plugins are loaded, and their classes, schedules and options are checked against their schemas, but they do not register, because that may have
effects. Only a start finds these problems: hooks of tesser/plugins/webhooks, backup.schedule, an address that two plugins use, a
plugin whose register function throws.`

addAllConfigOptions(program.command('start', { isDefault: true }))
  .description('Start a server. Without a model and a config file, it serves the demo.')
  // commander passes unknown commands to the default one.
  .allowExcessArguments()
  .option(
    '--print-config',
    'Print the configuration that results from flags, environment, file and defaults, then stop.',
  )
  .option(
    '--check',
    'List every problem and what a start would do, including changes to the store, then stop. Changes nothing.',
  )
  .addOption(
    new Option(
      '--empty',
      'Begin with a model without dataclasses: write model.json and tesser.config.json first.',
    ).conflicts(['printConfig', 'check']),
  )
  .addHelpText('after', NOT_CHECKED)
  .action(async ({ printConfig: isPrinted, check: isChecked, empty: isEmpty }, command: Command) => {
    if (command.args.length > 0) throw unknownCommand(command.args[0]!)
    if (isEmpty) print((await import('./empty-model.ts')).writeEmptyModel(configOf(command)))
    const config = configOf(command)
    if (isPrinted) print(printConfig(config))
    else if (isChecked) await printProblems(config, { of: 'start', mustExist: false })
    else await (await import('./start.ts')).start(config, print)
  })

addAllConfigOptions(program.command('dev'))
  .description('Start a server for writing plugins. It restarts when config, model or plugins change.')
  .action(async (_, command: Command) => (await import('./dev.ts')).dev(() => configOf(command), print))

/**
 * Prints every problem, and warnings, which do not count as problems; for `plan` also the changes that a start would make to the store, for
 * `start` also the address at which it would listen.
 */
async function printProblems(
  config: Config,
  { of, mustExist }: { of: 'state' | 'plan' | 'start'; mustExist: boolean },
): Promise<void> {
  const [{ check, checkAddress }, { ProgressDisplay }] = await Promise.all([
    import('./check.ts'),
    import('./progress.ts'),
  ])
  const progress = new ProgressDisplay(process.stderr)
  let problems = 0
  const tell = async (findings: AsyncIterable<string>): Promise<void> => {
    for await (const problem of findings) {
      problems++
      print(problem)
    }
  }
  await tell(check(config, { mustExist, progress, onPlan: of === 'state' ? undefined : print, onWarning: print }))
  if (of === 'start') await tell(checkAddress(config, print))
  if (problems > 0) print(quantity(problems, 'problem'))
  else if (existsSync(join(config.data, 'data.mdb'))) print(`config, ${config.model} and ${config.data} are all right`)
  else print(`config and ${config.model} are all right; no store was checked, there is none in ${config.data} yet`)
  if (problems > 0) process.exitCode = FAILED
}

function unknownCommand(name: string): Error {
  const names = program.commands.map(each => each.name())
  if (program.args[0] === 'start') return new UsageError(`"start" takes no arguments; "${name}" is one`)
  return new UsageError(`there is no command "${name}"${suggestion(name, names) || '; tesser --help lists them'}`)
}

const ofCheck = /^(plugins|disablePlugins|auth\.rolesFile|auth\.directoryFile)$/

addConfigOptions(program.command('check'), key => ofStore.test(key) || ofCheck.test(key))
  .description('Check config, model, roles, users, keys, plugins and store, and list every problem. Changes nothing.')
  .option(
    '--plan',
    'also list what a start would change in the store to match the model, or that it would create a store',
    false,
  )
  .addHelpText('after', NOT_CHECKED)
  .action(async ({ plan }: { plan: boolean }, command: Command) => {
    const config = configOf(command)
    // A store that is named must exist. With --plan it may be one that the first start would create.
    const isNamed = command.getOptionValueSource('data') === 'cli'
    const mustExist = isNamed && !(plan && existsSync(dirname(config.data)))
    await printProblems(config, { of: plan ? 'plan' : 'state', mustExist })
  })

const ofMachine =
  /^(model|data|storage\.(mapSizeBytes|memoryBytes)|server\.(transport|maxConnections)|(pool|functions)\.threads)$/

addConfigOptions(program.command('doctor'), key => ofMachine.test(key))
  .description(
    'Tell what is slow or missing on this machine, and what to do. The exit code is 1 if something is broken.',
  )
  .option('--json', 'print the findings as JSON', false)
  .action(async (options: { json: boolean }, command: Command) => {
    const { doctor } = await import('./doctor/doctor.ts')
    if (!(await doctor(configOf(command), options, print))) process.exitCode = FAILED
  })

addConfigOptions(program.command('compact'), key => /^(model|data|storage\.(mapSizeBytes|lock|lockWaitMs))$/.test(key))
  .description('Shrink the file of a store by the space of removed data. Stop the server of the store first.')
  .action(async (_, command: Command) => print(await (await import('./compact.ts')).compact(configOf(command))))

addServerOptions(program.command('migrate'), ' of an administrator')
  .description('Have a running server prepare the change to a changed model file. The restart then takes only seconds.')
  .option('--allow-loss', 'prepare the change even if the changed model loses data; all losses are listed', false)
  .option('--cancel', 'remove the prepared change', false)
  .addHelpText(
    'after',
    `
Edit the model file of the running server, then run this command. The server continues with the old model and changes a copy of
its store to the new one. This needs up to twice the disk space of data.mdb, and a process with lower priority. A restart uses the copy, with all
data written meanwhile. After an interruption, the server continues by itself.`,
  )
  .action(async (options, command: Command) => {
    const { migrate } = await import('./migrate.ts')
    if (!(await migrate({ ...options, url: serverOf(command) }, print))) process.exitCode = FAILED
  })

addBackupCommands(program)
addJobCommands(program)
addRowCommands(program)

addConfigOptions(program.command('types'), key => key === 'model' || key === 'plugins')
  .description('Write the TypeScript types of the model, so that plugin classes with wrong names do not compile.')
  .argument('[file]', 'a .d.ts file that the compiler reads; - for the standard output', 'tesser-model.d.ts')
  .action(async (file: string, _, command: Command) => (await import('./types.ts')).types(configOf(command), file))

addCloneCommands(program)
addAttachCommand(program)

addServerOptions(program.command('mcp'), ' (tesser key create); without it, the client is a guest')
  .description(
    'Speak the Model Context Protocol over the standard input and output, for desktop clients of a running server.',
  )
  .action(async ({ key }: { key?: string }, command: Command) =>
    (await import('./mcp.ts')).bridge(`${serverOf(command)}/mcp`, key, process.stdin, print),
  )

addConfigOptions(program.command('openapi'), key => /^(model|plugins|server\.basePath|session\.cookieName)$/.test(key))
  .description('Write the OpenAPI 3.1 document of the model and the classes of plugins, as $openapi returns it.')
  .option('--out <file>', 'file to write; the standard output by default')
  .action(async ({ out }: { out?: string }, command: Command) => {
    await (await import('./openapi.ts')).openapi(configOf(command), out)
    exitOnceWritten()
  })

addUrlOptions(
  addConfigOptions(program.command('client'), key => key === 'model' || key === 'plugins'),
  {
    url: 'get the client from a running server, such as http://127.0.0.1:8080, with what a guest or the key may see',
    key: 'API key or token for --url',
  },
)
  .description('Write a typed client: one TypeScript file without dependencies, with the types of the model.')
  .option('--out <file>', 'file to write; - for the standard output', 'client.ts')
  .addOption(new Option('--dates <form>', 'type of dates with a time').choices(['date', 'text']).default('date'))
  .option('--module', 'import the runtime from tesser/client instead of writing it into the file', false)
  .action(async (options: ClientArguments, command: Command) => {
    const text = await (await import('./client.ts')).client(() => configOf(command), options)
    if (text !== undefined) print(text)
    exitOnceWritten()
  })

addAccountCommands(program)

program
  .command('init')
  .description(
    'Create an application in a new folder: model, configuration, roles, an administrator, a plugin, tests, npm scripts.',
  )
  .argument('<name>', 'npm name of the application; its folder has the same name')
  .action(async (name: string) => (await import('./init.ts')).init(name, print))

program
  .command('new')
  .description('Create a package as a starting point.')
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
  .addArgument(new Argument('<file>', 'config, model or roles').choices(Object.keys(JSON_SCHEMAS)))
  .action((name: JsonSchemaName) => void process.stdout.write(printJsonSchema(name)))

program
  .command('completion')
  .description('Print the script with which a shell completes commands, options and their values.')
  .addArgument(new Argument('<shell>', 'bash, zsh or fish').choices(['bash', 'zsh', 'fish']))
  .addHelpText(
    'after',
    `
Install:
  tesser completion bash > ~/.local/share/bash-completion/completions/tesser
  tesser completion zsh > "\${fpath[1]}/_tesser"
  tesser completion fish > ~/.config/fish/completions/tesser.fish`,
  )
  .action(async (shell: Shell) => {
    const { completion } = await import('./completion/completion.ts')
    process.stdout.write(completion(program, shell))
  })
