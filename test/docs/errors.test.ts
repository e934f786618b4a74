/** `plugins/docs/pages/reference/errors.md` against the errors that the product declares. */
import { existsSync, readFileSync } from 'node:fs'
import t from 'tap'
import { CONFIG_KEYS } from '../../config/schema.ts'
import { CODES_BY_STATUS } from '../../plugins/openapi/errors.ts'
import { codeIn, tablesOf } from '../support/checks/page-tables.ts'
import { sources } from '../support/checks/sources.ts'
import { type DeclaredError, declaredErrors } from '../support/checks/declared-errors.ts'

const PAGE = 'plugins/docs/pages/reference/errors.md'
const text = readFileSync(PAGE, 'utf8')
const tables = tablesOf(PAGE)
const declared = declaredErrors()
const prefixOf = ({ name }: DeclaredError): string => name.split('.')[0]!
const prefixes = [...new Set(declared.map(prefixOf))]

for (const prefix of prefixes) {
  t.test(`the errors of ${prefix} match the code`, async t => {
    const rows = (tables.get(prefix) ?? []).map(({ error, code, status, message }) => {
      return `${codeIn(error!)[0]} ${code} ${status} ${message}`
    })
    const expected = declared
      .filter(error => prefixOf(error) === prefix)
      .map(({ name, errCode, http, form }) => `${name.slice(prefix.length + 1)} ${errCode} ${http} \`${form}\``)
    t.strictSame(rows, expected)
  })
}

t.test('the OpenAPI document has all codes', async t => {
  const codes = new Map<string, Set<number>>()
  for (const { http, errCode } of declared) codes.set(`${http}`, (codes.get(`${http}`) ?? new Set()).add(errCode))
  const expected = [...codes].map(([status, found]) => [status, [...found].sort((a, b) => a - b)])
  t.strictSame(CODES_BY_STATUS, Object.fromEntries(expected))
})

t.test('every error has a meaning, a component and a file', async t => {
  const rows = prefixes.flatMap(prefix => tables.get(prefix) ?? [])
  for (const row of rows) t.ok(row['meaning, and what to do']!.length > 10, row.error!)
  t.strictSame([...new Set(declared.map(error => error.componentSignature))], [undefined], 'all are of dbmg')
  for (const [, prefix, file] of text.matchAll(/^### (\w+)\n\n.* Declared in `([^`]+)`\.$/gm))
    t.ok(existsSync(file!) && readFileSync(file!, 'utf8').includes(`= defineErrors('${prefix}'`), file!)
  const headings = [...text.matchAll(/^### (\w+)$/gm)].map(([, prefix]) => prefix!)
  t.strictSame(headings.sort(), prefixes.sort(), 'the page has the registries of the code')
})

t.test('no registry has a name twice, which groups of errors would hide', async t => {
  for (const [, prefix, file] of text.matchAll(/^### (\w+)\n\n.* Declared in `([^`]+)`\.$/gm)) {
    const source = readFileSync(file!, 'utf8')
    const [registry] = source.slice(source.indexOf(`= defineErrors('${prefix}'`)).split('\n})')
    const names = [...registry!.matchAll(/^ {2,4}([A-Z][A-Z_\d]*): [({]/gm)].map(([, name]) => `${prefix}.${name}`)
    const expected = declared.filter(error => prefixOf(error) === prefix).map(({ name }) => name)
    t.strictSame(names.sort(), expected.sort(), file!)
  }
})

t.test('every error is used', async t => {
  const isCode = (line: string): boolean => !/^\s*(?:\*|\/[*/])/.test(line)
  const code = sources('.ts')
    .filter(({ path }) => /^(?:engine|kernel|plugins)\//.test(path))
    .map(({ text }) => text.split('\n').filter(isCode).join('\n'))
  const used = new Set(code.flatMap(text => text.match(/\b\w+Errors\.[A-Z_]+\b/g) ?? []))
  const registries = new Map(
    code.flatMap(text =>
      [...text.matchAll(/const (\w+) = defineErrors\('(\w+)'/g)].map(([, name, prefix]) => [prefix, name]),
    ),
  )
  const unused = declared.filter(error => !used.has(`${registries.get(prefixOf(error))}.${error.name.split('.')[1]}`))
  t.strictSame(
    unused.map(({ name }) => name),
    [],
  )
})

t.test('the index by code has every error once', async t => {
  const rows = tables.get('By code')!.map(row => [Number(row.code), codeIn(row.errors!)] as const)
  const byCode = new Map<number, string[]>()
  for (const { name, errCode } of declared) byCode.set(errCode, [...(byCode.get(errCode) ?? []), name])
  t.strictSame(
    rows.map(([code, names]) => [code, [...names].sort()]),
    [...byCode].sort(([one], [other]) => one - other).map(([code, names]) => [code, names.sort()]),
  )
})

t.test('the numbers of __STATUS match the declarations', async t => {
  const rows = tables.get('`__STATUS`')!.flatMap(row => {
    return codeIn(row.errors!)
      .filter(code => /^[A-Z_]+\.[A-Z_]+$/.test(code))
      .map(name => `${name} ${row.status} ${row.statusText}`)
  })
  const expected = declared.flatMap(({ name, save }) => (save ? [`${name} ${save.status} ${save.statusText}`] : []))
  t.strictSame(rows.sort(), expected.sort())
})

t.test('the errors that name their attribute match the declarations', async t => {
  const section = /^## `attribute`\n(.*?)^## /ms.exec(text)![1]!
  const names = codeIn(section).filter(code => /^[A-Z_]+\.[A-Z_]+$/.test(code))
  const naming = declared.filter(({ namesAttribute }) => namesAttribute !== undefined)
  t.strictSame(names.sort(), naming.map(({ name }) => name).sort())
  const about = declared.filter(
    ({ name, http, form }) =>
      http < 500 && /^(WRITE|QUERY|SERIALISE|AGGREGATE)\./.test(name) && /\{(attribute|path)\}/.test(form),
  )
  t.strictSame(
    about.filter(error => !naming.includes(error)).map(({ name }) => name),
    [],
  )
})

t.test('every option that a meaning names exists', async t => {
  const groups = new Set(CONFIG_KEYS.map(key => key.split('.')[0]))
  const names = codeIn(text.replaceAll(/```.*?```/gs, '')).filter(code => /^[a-z]+\.[a-zA-Z.]+$/.test(code))
  const options = names.filter(name => groups.has(name.split('.')[0]))
  t.ok(options.length > 30, 'options are found')
  for (const name of options) t.ok((CONFIG_KEYS as readonly string[]).includes(name), name)
})
