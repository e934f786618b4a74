import type { JsonSchema } from '../../../engine/index.ts'
import { type DeclaredParameter, SELECTIONS } from '../../../kernel/api.ts'
import type { Plugin } from '../../../kernel/plugin-loader.ts'
import type { Registry } from '../../../kernel/registry.ts'
import { code, codes, table } from './tables.ts'

/** Tables of what plugins have registered. */
export function parameterTables(registry: Registry, plugins: readonly Plugin[]): Record<string, string> {
  const { declared, methods, services } = registry
  const routes = [...registry.routes.values()].filter(({ doc }) => doc !== undefined)
  const names = [...new Set(declared.map(({ name }) => name))].sort((a, b) => a.localeCompare(b))
  return {
    parameters: table(
      ['parameter', 'value', 'meaning', 'requests', 'plugin', 'section'],
      names.flatMap(name => rowsOf(declared.filter(each => each.name === name))),
    ),
    methods: table(
      ['value', 'verbs', 'meaning', 'plugin', 'section'],
      [...methods].map(([name, { verbs, doc = '', plugin, section }]) => [
        code(name),
        verbs.join(', '),
        doc,
        code(plugin),
        section ?? 'extension',
      ]),
    ),
    services: table(
      ['service', 'verbs', 'for', 'meaning', 'plugin', 'section'],
      [...services].map(([name, { verbs, guests, administrators, doc = '', plugin, section }]) => [
        code(name),
        verbs.join(', '),
        guests ? 'everybody' : administrators ? 'administrators' : '',
        doc,
        code(plugin),
        section ?? 'extension',
      ]),
    ),
    addresses: table(
      ['address', 'answer'],
      [...services].flatMap(([name, { operations = {} }]) =>
        Object.entries(operations).map(([place, { doc }]) => {
          const [verb, path] = place.split(' ') as [string, string]
          return [code(`${verb} /rest/${name}${path === '/' ? '' : path}`), `${doc}.`]
        }),
      ),
    ),
    routes: table(
      ['address', 'verbs', 'meaning', 'plugin'],
      routes.map(({ path, verbs, doc, plugin }) => [code(path), verbs.join(', '), doc!, code(plugin)]),
    ),
    options: table(
      ['plugin', 'option', 'default', 'meaning'],
      plugins.flatMap(({ definition }) =>
        Object.entries(definition.options?.properties ?? {}).map(([option, { default: usual, description = '' }]) => [
          code(definition.name),
          code(option),
          usual === undefined ? '' : typeof usual === 'object' ? JSON.stringify(usual) : String(usual),
          description,
        ]),
      ),
    ),
  }
}

/** Rows of a parameter: one for each meaning. */
function rowsOf(declared: readonly DeclaredParameter[]): string[][] {
  const meanings = new Map<string, DeclaredParameter[]>()
  for (const each of declared) meanings.set(each.doc, [...(meanings.get(each.doc) ?? []), each])
  return [...meanings].map(([doc, found]) => {
    const [{ name, schema, section, on = SELECTIONS }] = found as [DeclaredParameter]
    return [
      code(name),
      formOf(schema),
      doc,
      on.join(', '),
      codes(found.map(each => each.plugin)),
      section ?? 'extension',
    ]
  })
}

function formOf({ type, enum: words, format, contentMediaType }: JsonSchema): string {
  if (Array.isArray(words)) return codes(words as string[])
  if (contentMediaType !== undefined) return 'JSON'
  return format === undefined ? (NAMES[String(type)] ?? String(type)) : String(format)
}

const NAMES: Readonly<Record<string, string>> = { boolean: 'flag', string: 'text' }
