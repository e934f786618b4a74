import type { CommandWords } from './command-words.ts'

/** Completion for fish. Where it offers nothing, fish completes names of files. */
export function fishScript(commands: readonly CommandWords[]): string {
  return commands.flatMap(lines).join('')
}

function lines({ path, commands, options, choices }: CommandWords): string[] {
  const condition = conditionOf(
    path,
    commands.map(({ name }) => name),
  )
  const line = (rest: string): string => `complete -c tesser -n ${quote(condition)} ${rest}\n`
  return [
    ...commands.map(({ name, description }) => line(`-f -a ${quote(name)} -d ${quote(description)}`)),
    ...(choices.length > 0 ? [line(`-f -a ${quote(choices.join(' '))}`)] : []),
    ...options.map(({ name, description, takesValue, choices }) => {
      const value = choices.length > 0 && takesValue ? ` -x -a ${quote(choices.join(' '))}` : takesValue ? ' -r' : ''
      return line(`-l ${name.slice(2)}${value} -d ${quote(description)}`)
    }),
  ]
}

/** Condition of a shell line that has exactly this command. */
function conditionOf(path: readonly string[], below: readonly string[]): string {
  if (path.length === 0) return '__fish_use_subcommand'
  const seen = path.map(name => `__fish_seen_subcommand_from ${name}`)
  return [...seen, ...(below.length > 0 ? [`not __fish_seen_subcommand_from ${below.join(' ')}`] : [])].join('; and ')
}

const quote = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
