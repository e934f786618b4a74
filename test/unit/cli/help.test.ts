/** The help of commands: what most people need comes first, the rest by topic. */
import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import t from 'tap'
import { CONFIG_KEYS, flagNames } from '../../../config/schema.ts'
import { FIRST_KEYS, FIRST_OPTIONS } from '../../../kernel/cli/help-groups.ts'
import { program } from '../../../kernel/cli/program.ts'

const find = (name: string): Command =>
  name.split(' ').reduce<Command>((found, word) => found.commands.find(each => each.name() === word)!, program)

/** Flags in the help of a command, by heading. */
function groupsOf(command: Command): Map<string, string[]> {
  const groups = new Map<string, string[]>()
  let flags: string[] = []
  for (const line of command.helpInformation().split('\n')) {
    if (/^\S.*:$/.test(line)) {
      flags = []
      groups.set(line, flags)
    }
    const flag = /^ {2}(?:-\w, )?(--\S+)/.exec(line)?.[1]
    if (flag) flags.push(flag)
  }
  return groups
}

for (const name of ['start', 'dev']) {
  t.test(`${name} shows ten options of the configuration first, and each other one under its topic`, async t => {
    const groups = groupsOf(find(name))
    const headings = [...groups.keys()]
    t.same(headings.slice(0, 2), [FIRST_OPTIONS, 'Options:'])
    const flag = (key: (typeof CONFIG_KEYS)[number]): string => `--${flagNames(key)[0]}`
    t.same(groups.get(FIRST_OPTIONS), ['--config', ...FIRST_KEYS.map(flag)])
    t.equal(FIRST_KEYS.length, 10)
    t.same(
      [...groups.values()].flat().filter(each => each === '--port'),
      ['--port'],
      'once',
    )
    const shown = new Set([...groups.values()].flat())
    t.same(
      CONFIG_KEYS.map(flag).filter(each => !shown.has(each)),
      [],
    )
    t.ok(headings.length > 12, `${headings.length} topics`)
    const largest = Math.max(...[...groups.values()].map(flags => flags.length))
    t.ok(largest < 30, `the largest topic has ${largest} options`)
  })
}

t.test('the reference begins with the same ten options', async t => {
  const page = readFileSync('plugins/docs/pages/reference/options.md', 'utf8')
  const [table] = page.slice(page.indexOf('| option |')).split('\n\n')
  t.same(
    [...table!.matchAll(/^\| `([\w.]+)` \|/gm)].map(([, key]) => key),
    FIRST_KEYS,
  )
})

t.test(
  'other commands show their own options first, then the server that they ask, then the configuration',
  async t => {
    const table: [name: string, first: string, which: boolean][] = [
      ['export', '--out', true],
      ['jobs list', '--job', true],
      ['import', '--into', true],
      ['migrate', '--allow-loss', true],
      ['client', '--out', true],
      ['user add', '--privileges', false],
      ['load', '--into', false],
      ['check', '--plan', false],
      ['clone', '--resume', false],
    ]
    for (const [name, first, which] of table) {
      const groups = groupsOf(find(name))
      const headings = [...groups.keys()].filter(heading => !/^Arguments|^Options for /.test(heading))
      t.same(headings, ['Options:', ...(which ? ['Which server:'] : []), 'Configuration:'], name)
      t.equal([...groups.keys()].at(-1), 'Configuration:')
      t.equal(groups.get('Options:')![0], first, name)
      if (which) t.same(groups.get('Which server:'), ['--url', '--key'])
    }
  },
)
