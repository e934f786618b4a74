import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Argument, Command, Option } from 'commander'
import t from 'tap'
import { completion, type Shell } from '../../../kernel/cli/completion/completion.ts'
import { programOf } from '../../support/base/programs.ts'
import { runTesser } from '../../support/commands/author-package.ts'

/** A command with the forms of `tesser`. */
function example(): Command {
  const program = new Command('tesser').version('1.0.0')
  program
    .command('start', { isDefault: true })
    .description("Start it: don't stop.")
    .option('--config <file>', 'Config file.')
    .option('--storage-lock <file|lease>', 'How the store is locked; one of two.')
    .addOption(new Option('--secret <text>').hideHelp())
  const load = program.command('load').description('Load rows.').argument('<file>').option('--yes', 'Ask nothing.')
  load.addOption(new Option('--format <format>', 'format: of the file').choices(['csv', 'json']))
  const user = program.command('user').description('Manage users.')
  user.command('add').description('Add a user.').argument('<name>').option('--roles <a,b>', 'roles')
  user.command('list').description('List the users.')
  program.command('schema').addArgument(new Argument('<file>').choices(['config', 'model']))
  return program
}

/** Lines before the cursor, and the words that a shell offers; undefined for names of files. */
const CASES: readonly (readonly [line: string, words: readonly string[] | undefined])[] = [
  ['tesser ', ['start', 'load', 'user', 'schema']],
  ['tesser l', ['load']],
  ['tesser --', ['--version', '--config', '--storage-lock', '--help']],
  ['tesser --storage-lock ', ['file', 'lease']],
  ['tesser start --storage-lock l', ['lease']],
  ['tesser start --config ', undefined],
  ['tesser load ', undefined],
  ['tesser load a.csv --', ['--yes', '--format', '--help']],
  ['tesser load a.csv --yes --format ', ['csv', 'json']],
  ['tesser load --format csv --y', ['--yes']],
  ['tesser user ', ['add', 'list']],
  ['tesser user add ada --', ['--roles', '--help']],
  ['tesser user list --r', []],
  ['tesser schema ', ['config', 'model']],
]

/** Programs that load the script in the first argument, and print the words for each further one, with an empty line after them. */
const DRIVERS: Readonly<Record<Shell, readonly string[]>> = {
  bash: [
    '--norc',
    '-c',
    `source "$0"; for line; do COMP_WORDS=($line); [[ "$line" == *' ' ]] && COMP_WORDS+=('')
      COMP_CWORD=$((\${#COMP_WORDS[@]}-1)); _tesser; printf '%s\\n' "\${COMPREPLY[@]/%/ }" .; done`,
  ],
  // The functions of zsh itself need a terminal.
  zsh: [
    '-f',
    '-c',
    `compdef() {}; _files() {}; compadd() { shift; offered=($@); }
    _describe() { offered=("\${(@)\${(@P)2}%%:*}") }
    source $0; for line; do words=(\${=line}); [[ $line == *' ' ]] && words+=(''); CURRENT=$#words; offered=(); _tesser
      print -l -- \${(M)offered:#\${words[CURRENT]}*} .; done`,
  ],
  fish: [
    '--no-config',
    '-c',
    `source $argv[1]; for line in $argv[2..]; for each in (complete -C $line); echo (string split -- \\t $each)[1]; end; echo .; end`,
  ],
}

for (const shell of ['bash', 'zsh', 'fish'] as const) {
  const skip = programOf(shell) === undefined && `${shell} is not installed`
  t.test(`${shell} completes commands, options and values`, { skip }, async t => {
    const folder = t.testdir({})
    const file = join(folder, 'script')
    writeFileSync(file, completion(example(), shell))
    const args = [...DRIVERS[shell], file, ...CASES.map(([line]) => line)]
    const { stdout, stderr } = spawnSync(shell, args, { cwd: folder, encoding: 'utf8' })
    t.equal(stderr, '')
    const answers = stdout.split(/^ ?\. ?\n/m)
    for (const [i, [line, words]] of CASES.entries()) {
      const offered = answers[i]!.split('\n').map(word => word.trim())
      // fish itself offers the names of files.
      const expected = shell === 'fish' && words === undefined ? ['script'] : (words ?? [])
      t.strictSame(offered.filter(word => word !== '').sort(), [...expected].sort(), line)
    }
  })
}

t.test('tesser completion prints a script with the line that installs it', async t => {
  const folder = t.testdir({})
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, output } = await runTesser(folder, 'completion', shell)
    t.match({ code, output }, { code: 0, output: new RegExp(`^# Install: tesser completion ${shell} > \\S+$`, 'm') })
    t.match(output, 'storage-lock')
    if (!programOf(shell)) continue
    writeFileSync(join(folder, shell), output)
    t.match(spawnSync(shell, ['-n', join(folder, shell)], { encoding: 'utf8' }), { status: 0, stderr: '' })
  }
  t.match(await runTesser(folder, 'completion', 'tcsh'), { code: 2, output: /Allowed choices are bash, zsh, fish/ })
})
