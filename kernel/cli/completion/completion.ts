import type { Command } from 'commander'
import { bashScript } from './bash.ts'
import { commandWords } from './command-words.ts'
import { fishScript } from './fish.ts'
import { zshScript } from './zsh.ts'

/** Shells with their scripts, and the file from which each loads them. */
const SCRIPTS = {
  bash: { script: bashScript, file: '~/.local/share/bash-completion/completions/tesser' },
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the shell
  zsh: { script: zshScript, file: '"${fpath[1]}/_tesser"' },
  fish: { script: fishScript, file: '~/.config/fish/completions/tesser.fish' },
} as const

export type Shell = keyof typeof SCRIPTS

/** `tesser completion`: the script with which a shell completes commands, options and their values. */
export function completion(program: Command, shell: Shell): string {
  const script = SCRIPTS[shell].script(commandWords(program))
  // zsh reads the first line.
  const at = script.startsWith('#') ? script.indexOf('\n') + 1 : 0
  return `${script.slice(0, at)}# Install: tesser completion ${shell} > ${SCRIPTS[shell].file}\n${script.slice(at)}`
}
