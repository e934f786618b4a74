import type { Command, Option } from 'commander'

/** Words that may follow a command, for completion in a shell. */
export interface CommandWords {
  /** Names of the command and of the commands above it, without `tesser`: `user`, `add`. */
  readonly path: readonly string[]
  readonly commands: readonly Word[]
  readonly options: readonly OptionWord[]
  /** Values of the first argument, if only certain ones are accepted. */
  readonly choices: readonly string[]
}

export interface Word {
  readonly name: string
  readonly description: string
}

interface OptionWord extends Word {
  /** True if a value must follow. */
  readonly takesValue: boolean
  /** Accepted values; empty if the value is a text, a number or a file. */
  readonly choices: readonly string[]
}

const MAX_DESCRIPTION = 80
/** The command that runs if none is named. */
const DEFAULT = 'start'
const HELP: OptionWord = { name: '--help', description: 'show help', takesValue: false, choices: [] }

/** Words of a command and of all commands below it, in their order. */
export function commandWords(command: Command, path: readonly string[] = []): CommandWords[] {
  const { commands, options, registeredArguments } = command
  // Options of the default command may follow `tesser` directly.
  const byDefault = path.length === 0 ? (commands.find(each => each.name() === DEFAULT)?.options ?? []) : []
  const own = {
    path,
    commands: commands.map(each => ({ name: each.name(), description: shortText(each.description()) })),
    options: [...options, ...byDefault]
      .filter(option => !option.hidden && option.long)
      .map(optionWord)
      .concat(HELP),
    choices: registeredArguments[0]?.argChoices ?? [],
  }
  return [own, ...commands.flatMap(each => commandWords(each, [...path, each.name()]))]
}

function optionWord(option: Option): OptionWord {
  const { long, required, flags, argChoices, description } = option
  // Options of the configuration name their values in the flag: `--storage-lock <file|lease>`.
  const [, alternatives] = /[<[]([^>\]]+\|[^>\]]+)[>\]]$/.exec(flags) ?? []
  return {
    name: long!,
    description: shortText(description),
    takesValue: required,
    choices: argChoices ?? alternatives?.split('|') ?? [],
  }
}

/** First sentence of a description, on one line. */
function shortText(text: string): string {
  const [sentence] = text.replaceAll(/\s+/g, ' ').split(/(?<=[.;:]) /, 1)
  const line = sentence!.replace(/[.;:]$/, '')
  return line.length > MAX_DESCRIPTION ? `${line.slice(0, MAX_DESCRIPTION - 1)}…` : line
}
