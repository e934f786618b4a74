import type { Command, Option } from 'commander'
import { isOfConfiguration, WHICH_SERVER } from '../../../kernel/cli/help-groups.ts'
import { code, table } from './tables.ts'

/** Every command with its arguments and its own options. */
export function commandTables(program: Command): string {
  const all = leaves(program, '').map(([name, command]) => {
    const usage = [
      `tesser ${name}`,
      ...command.registeredArguments.map(each => (each.required ? `<${each.name()}>` : `[${each.name()}]`)),
    ]
    const rows = [
      ...command.registeredArguments.map(each => [code(each.name()), each.description, usual(each.defaultValue)]),
      ...ownFirst(command.options.filter(isOwn)).map(each => [
        code(each.flags),
        each.description,
        usual(each.defaultValue),
      ]),
    ]
    const title = `### \`${usage.join(' ')}\`\n\n${command.description()}`
    return rows.length === 0 ? title : `${title}\n\n${table(['option', 'meaning', 'default'], rows)}`
  })
  return all.join('\n\n')
}

const isOwn = ({ hidden, helpGroupHeading }: Option): boolean => !hidden && !isOfConfiguration(helpGroupHeading)

/** The options of a command before those that name its server, as in its help. */
const ownFirst = (options: readonly Option[]): Option[] =>
  options.toSorted((a, b) => Number(a.helpGroupHeading === WHICH_SERVER) - Number(b.helpGroupHeading === WHICH_SERVER))

function leaves(command: Command, name: string): [string, Command][] {
  if (command.commands.length === 0) return [[name, command]]
  return command.commands.flatMap(each => leaves(each, `${name} ${each.name()}`.trim()))
}

const usual = (value: unknown): string => (value === undefined || value === false ? '' : code(String(value)))
