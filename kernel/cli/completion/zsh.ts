import type { CommandWords, Word } from './command-words.ts'

/** Completion for zsh, for a file `_tesser` in `$fpath` and for `source`. */
export function zshScript(commands: readonly CommandWords[]): string {
  const paths = commands.slice(1).map(({ path }) => `"${path.join(' ')}"`)
  return `#compdef tesser
_tesser() {
  local command="" word
  local -a entries
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "\${command:+$command }$word" in
      ${paths.join('|')}) command="\${command:+$command }$word" ;;
    esac
  done
  case "$command \${words[CURRENT-1]}" in
${commands.flatMap(valueCases).join('\n')}
  esac
  case "$command" in
${commands.map(wordCases).join('\n')}
  esac
  if (( $#entries )); then _describe tesser entries; else _files; fi
}
if [[ "$funcstack[1]" == _tesser ]]; then _tesser "$@"; else compdef _tesser tesser; fi
`
}

function valueCases({ path, options }: CommandWords): string[] {
  const label = (name: string): string => `"${path.join(' ')} ${name}"`
  return options
    .filter(({ takesValue }) => takesValue)
    .map(({ name, choices }) => {
      const action = choices.length > 0 ? `compadd -- ${choices.map(quote).join(' ')}` : '_files'
      return `    ${label(name)}) ${action}; return ;;`
    })
}

function wordCases({ path, commands, options, choices }: CommandWords): string {
  const names = [...commands, ...choices.map(name => ({ name, description: '' }))]
  return `    "${path.join(' ')}")
      if [[ "\${words[CURRENT]}" == -* ]]; then entries=(${entries(options)})
      else entries=(${entries(names)})
      fi ;;`
}

const entries = (words: readonly Word[]): string =>
  words.map(({ name, description }) => quote(description === '' ? name : `${name}:${description}`)).join(' ')

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
