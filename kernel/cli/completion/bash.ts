import type { CommandWords } from './command-words.ts'

/** Completion for bash. Where it offers nothing, bash completes names of files. */
export function bashScript(commands: readonly CommandWords[]): string {
  const paths = commands.slice(1).map(({ path }) => `"${path.join(' ')}"`)
  return `_tesser() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" command="" word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "\${command:+$command }$word" in
      ${paths.join('|')}) command="\${command:+$command }$word" ;;
    esac
  done
  COMPREPLY=()
  case "$command $previous" in
${commands.flatMap(valueCases).join('\n')}
  esac
  case "$command" in
${commands.map(wordCases).join('\n')}
  esac
}
complete -o default -F _tesser tesser
`
}

/** Cases of options that a value follows: its choices, or names of files. */
function valueCases({ path, options }: CommandWords): string[] {
  const label = (name: string): string => `"${path.join(' ')} ${name}"`
  const files = options.filter(({ takesValue, choices }) => takesValue && choices.length === 0)
  return [
    ...options
      .filter(({ takesValue, choices }) => takesValue && choices.length > 0)
      .map(({ name, choices }) => `    ${label(name)}) ${reply(choices)}; return ;;`),
    ...(files.length > 0 ? [`    ${files.map(({ name }) => label(name)).join('|')}) return ;;`] : []),
  ]
}

function wordCases({ path, commands, options, choices }: CommandWords): string {
  const names = [...commands.map(({ name }) => name), ...choices]
  return `    "${path.join(' ')}")
      case "$current" in
        -*) ${reply(options.map(({ name }) => name))} ;;
        *) ${reply(names)} ;;
      esac ;;`
}

const reply = (words: readonly string[]): string =>
  words.length > 0 ? `COMPREPLY=($(compgen -W '${words.join(' ')}' -- "$current"))` : 'return'
