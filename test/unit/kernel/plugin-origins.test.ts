import assert from 'node:assert'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import type { Plugin } from '../../../kernel/plugin-loader.ts'
import { PluginOrigins } from '../../../kernel/plugin-origins.ts'

t.test('errors are attributed by the files of their traces', async t => {
  const folder = t.testdir({
    'package.json': '{}',
    'a.ts': '',
    'b.ts': '',
    deep: { 'c.ts': '' },
    node_modules: { other: { 'package.json': '{}', 'index.js': '' } },
  })
  const plugin = (name: string, entry: string | undefined, register?: () => void): Plugin =>
    ({ definition: { name, kernel: '^1.0.0', register }, entry }) as unknown as Plugin
  const register = () => {}
  const origins = new PluginOrigins([
    plugin('built-in', undefined, register),
    plugin('a', `${folder}/a.ts`, register),
    plugin('b', `${folder}/b.ts`, register),
    plugin('c', `${folder}/deep/c.ts`, register),
    plugin('other', `${folder}/node_modules/other/index.js`, register),
    plugin('classes only', `${folder}/a.ts`),
  ])
  t.strictSame(origins.names, ['a', 'b', 'c', 'other'])

  const kernel = resolve('kernel/main.ts')
  const table: [string, readonly string[], unknown][] = [
    ['its entry', [`${folder}/b.ts`], { plugin: 'b' }],
    ['the longer path', [`${folder}/deep/helper.ts`], { plugin: 'c' }],
    ['a package in its folder', [`${folder}/node_modules/pg/index.js`], 'unknown'],
    ['a plugin that is such a package', [`${folder}/node_modules/other/lib/x.js`], { plugin: 'other' }],
    ['code that a plugin has called', ['node:fs', kernel, `${folder}/a.ts`, kernel], { plugin: 'a' }],
    ['the kernel', ['node:fs', kernel, 'node:internal/timers'], 'kernel'],
    ['Node.js alone', ['node:fs', 'node:internal/timers'], 'unknown'],
    ['nothing', [], 'unknown'],
  ]
  const error = (frames: string[]): Error =>
    Object.assign(new Error('x'), { stack: ['Error: x', ...frames].join('\n') })
  for (const [name, files, expected] of table) {
    const forms = [
      files.map(file => `    at run (${file}:1:2)`),
      files.map(file => `    at async Promise.all (index 0)\n    at async ${file}:1:2`),
      files.map(file => `    at new Thing (${file.startsWith('/') ? pathToFileURL(file).href : file}:10:20)`),
    ]
    for (const frames of forms) t.strictSame(origins.of(error(frames)), expected, `${name}: ${frames}`)
  }
  t.strictSame(
    origins.of(error(['    at run (file://host/a.ts:1:2)', `    at run (${folder}/a.ts:1:2)`])),
    { plugin: 'a' },
    'another host',
  )
  t.equal(origins.of(error([' '.repeat(1_000_000)])), 'unknown', 'a long trace')
  const hostile = new Error('x')
  Object.defineProperty(hostile, 'stack', { get: () => assert.fail() })
  t.equal(origins.of(hostile), 'unknown', 'a trace that cannot be read')
  t.equal(origins.of('a text'), 'unknown')
  t.equal(origins.of(undefined), 'unknown')
})
