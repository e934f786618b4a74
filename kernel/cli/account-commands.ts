import type { Command } from 'commander'
import type { Config } from '../../config/load-config.ts'
import { addConfigOptions, configOf } from './config-options.ts'
import { list } from './option-values.ts'
import { print, printError } from './outcome.ts'

const ofDirectory = /^auth\.(directoryFile|rolesFile|login\.maxPasswordBytes)$/
const account = (parent: Command, name: string, description: string): Command =>
  addConfigOptions(parent.command(name), key => ofDirectory.test(key)).description(description)
const accounts = () => import('./accounts.ts')
const withGrants = (command: Command): Command =>
  command
    .option('--privileges <a,b>', 'privileges of roles.json', list)
    .option('--roles <a,b>', 'roles of roles.json', list)

/** `tesser user` and `key`. */
export function addAccountCommands(program: Command): void {
  const user = program.command('user').description('Manage users who may log in. A running server notices changes.')
  withGrants(account(user, 'add', 'Add a user, or set a new password for a user.'))
    .argument('<name>')
    .option('--full-name <text>', 'display name')
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
  account(user, 'list', 'List the users.').action((_, command: Command) => printList(configOf(command), 'listUsers'))

  const key = program.command('key').description('Manage API keys, which machines send as Authorization: Bearer.')
  withGrants(account(key, 'create', 'Create a key and print it. The key is shown only once.'))
    .argument('<name>')
    .option('--expires <yyyy-mm-dd>', 'first day on which the server refuses the key')
    .action(async (name: string, options, command: Command) => {
      const { key, file } = (await accounts()).addKey(configOf(command), name, options)
      print(key)
      // The standard output is the key alone.
      printError(`${name} was added to ${file}; the key is not shown again`)
    })
  account(key, 'revoke', 'Revoke a key.')
    .argument('<name>')
    .action(async (name: string, _, command: Command) => print((await accounts()).revokeKey(configOf(command), name)))
  account(key, 'list', 'List the keys.').action((_, command: Command) => printList(configOf(command), 'listKeys'))
}

async function printList(config: Config, kind: 'listUsers' | 'listKeys'): Promise<void> {
  const commands = await accounts()
  const missing = commands.missingFile(config)
  if (missing) printError(missing)
  commands[kind](config).forEach(print)
}
