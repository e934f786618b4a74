import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ModuleBundler } from '../../kernel/module-bundler.ts'
import { importPlugins } from '../../kernel/plugin-loader.ts'
import { differs, type EngineCase, engineCase } from './engine-case.ts'

const PLUGINS = 20

const source = (name: string): string => `
import { definePlugin, json, Type } from 'tesser'
export default definePlugin({
  name: '${name}',
  kernel: '^1.0.0',
  options: Type.Object({ greeting: Type.String({ default: 'hello' }) }),
  register(scope, { greeting }) {
    scope.route('/${name}', { verbs: ['GET'] }, () => json({ greeting }))
  },
})
`

/** Loading plugins. Every run has different ones, because a process loads a module once. Starts after the first bundle faster. */
export const loadPlugins: EngineCase = engineCase({
  name: 'load-plugins',
  title: 'what 20 plugins in TypeScript add to the start: bundled, imported, checked',
  prepare: () => {
    const folder = mkdtempSync(join(tmpdir(), 'tesser-bench-'))
    const bundler = new ModuleBundler()
    return {
      units: PLUGINS,
      unit: 'plugins',
      run: n => {
        const plugins = Array.from({ length: PLUGINS }, (_, i) => {
          const name = `plugin-${n}-${i}`
          writeFileSync(join(folder, `${name}.ts`), source(name))
          return { specifier: `./${name}.ts` }
        })
        return importPlugins({ plugins, folder, readReference: () => ({ text: '' }) }, bundler)
      },
      problemOf: (answer, n) => {
        const loadedNames = (answer as Awaited<ReturnType<typeof importPlugins>>).map(each => each.definition.name)
        const expected = Array.from({ length: PLUGINS }, (_, i) => `plugin-${n}-${i}`)
        return differs('the list of plugins', loadedNames, expected)
      },
      async close() {
        bundler.close()
        rmSync(folder, { recursive: true, force: true })
      },
    }
  },
})
