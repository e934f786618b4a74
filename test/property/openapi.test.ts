/** OpenAPI documents of random models, and of random rights against a naive evaluator: valid, and with exactly what may be seen. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Validator } from '@seriousme/openapi-schema-validator'
import t from 'tap'
import { loadModel } from '../../engine/catalog/load-model.ts'
import { publicView } from '../../engine/catalog/view.ts'
import { ClassRegistry } from '../../engine/author/declare/class-registry.ts'
import { hashKey } from '../../kernel/auth/directory.ts'
import { openApiDocument } from '../../plugins/openapi/index.ts'
import { componentName } from '../../plugins/openapi/names.ts'
import { Contract } from '../support/checks/openapi.ts'
import {
  CLASSES,
  FACTS,
  model,
  PRINCIPALS,
  randomRoles,
  RELATIONS,
  rows,
  SCALARS,
} from '../support/reference/permission-world.ts'
import { Evaluator } from '../support/reference/permissions.ts'
import { randomModel } from '../support/reference/random-world.ts'
import { randomOf } from '../support/base/random.ts'
import { isLong, seeds, timeoutMs } from '../support/runner/rounds.ts'
import { registerBuiltIn } from '../support/checks/registered.ts'
import { modelOf } from '../support/reference/world.ts'
import { matrixPlugin } from '../support/plugins/test-plugins.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'
import { startServer } from '../support/servers/test-server.ts'

t.setTimeout(timeoutMs)

// biome-ignore lint/suspicious/noExplicitAny: the test reads a document at many places
type Json = any

const { registry } = await registerBuiltIn()

const documentOf = (source: object): Json => {
  const catalog = loadModel(source)
  const document = openApiDocument({
    ...{ catalog, classes: new ClassRegistry(), view: publicView(catalog), mayCall: () => true },
    isAdministrator: true,
    registered: registry,
    version: '1.0.0',
    cookieName: '4DSID',
  })
  return JSON.parse(JSON.stringify(document))
}

const validator = new Validator()

/** @returns problems of a document in itself */
async function problemsOf(document: Json): Promise<unknown> {
  const { valid, errors } = await validator.validate(structuredClone(document))
  if (!valid) return errors
  const ids = Object.values<Json>(document.paths)
    .flatMap(item => Object.values<Json>(item))
    .flatMap(operation => operation?.operationId ?? [])
  const twice = ids.filter((id, i) => ids.indexOf(id) < i)
  const text = JSON.stringify(document)
  const missing = [
    ...new Set([...text.matchAll(/"\$ref":"#\/components\/(\w+)\/([^"]+)"/g)].map(([, , name]) => name!)),
  ].filter(name => !Object.values<Json>(document.components).some(section => name in section))
  const unused = Object.entries<Json>(document.components).flatMap(([section, parts]) =>
    section === 'securitySchemes'
      ? []
      : Object.keys(parts).filter(name => !text.includes(`"$ref":"#/components/${section}/${name}"`)),
  )
  return [...twice, ...missing, ...unused.map(name => `unused: ${name}`), ...unreadable(document)]
}

/** Parts that some generators do not read: path items by reference, parameters with content, choices without a type. */
function unreadable(document: Json): string[] {
  const found = Object.entries<Json>(document.paths).flatMap(([path, { $ref }]) => ($ref ? [path] : []))
  const visit = (part: Json, where: string): void => {
    if (typeof part !== 'object' || part === null) return
    if ('in' in part && part.type !== 'apiKey' && !part.schema) found.push(`${where}: a parameter without a schema`)
    if ((Array.isArray(part.enum) || 'const' in part) && !part.type) found.push(`${where}: a choice without a type`)
    for (const [name, each] of Object.entries(part)) visit(each, `${where}/${name}`)
  }
  visit(document, '#')
  return found
}

t.test('documents of random models are valid', async t => {
  const worlds = seeds(isLong ? 200 : 50)
  for (const seed of worlds) {
    const source = modelOf(randomModel(randomOf(seed)))
    const document = documentOf(source)
    t.same(await problemsOf(document), [], `seed ${seed}`)
    for (const { template } of new Contract(document).examples()) if (!document.paths[template]) t.fail(template)
    for (const [name, { attributes }] of Object.entries<Json>((source as Json).dataClasses)) {
      const shown = Object.keys(document.components.schemas[componentName(name)].properties)
      const expected = Object.keys(attributes).filter(each => attributes[each].scope !== 'private')
      t.same(shown, expected, `seed ${seed}: ${name}`)
    }
  }
})

t.test('a document of 100 dataclasses with 20 attributes each', async t => {
  const attributes = Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`attribute${i}`, { type: 'string' }]))
  const dataClasses = Object.fromEntries(
    Array.from({ length: 100 }, (_, i) => [
      `Class${i}`,
      {
        key: 'ID',
        attributes: {
          ID: { type: 'long', autoFill: 'increment' },
          ...attributes,
          parentID: { type: 'long' },
          parent: { kind: 'relatedEntity', type: `Class${(i + 1) % 100}`, foreignKey: 'parentID' },
        },
      },
    ]),
  )
  const document = documentOf({ name: 'large', dataClasses })
  t.same(await problemsOf(document), [])
  const bytes = JSON.stringify(document).length
  t.comment(`${bytes} bytes`)
  t.ok(bytes < 1_700_000, `${bytes} bytes`)
})

/** Functions of the plugin, with their addresses. */
const FUNCTIONS: readonly [kind: 'method' | 'singletonMethod', owner: string, name: string, path: string][] = [
  ['method', 'ds', 'hello', '/$catalog/hello'],
  ['method', 'Team', 'cheer', '/Team/cheer'],
  ['method', 'Person', 'greet', '/Person({key})/greet'],
  ['method', 'Person', 'crowd', '/Person/crowd'],
  ['singletonMethod', 'Bell', 'ring', '/$singleton/Bell/ring'],
]

t.test('a document shows what its caller may see', async t => {
  const folder = temporaryFolder(t)
  const keys = PRINCIPALS.filter(({ key }) => key).map(({ name, key, privileges, roles }) => ({
    name,
    hash: hashKey(key),
    privileges,
    roles,
  }))
  writeFileSync(join(folder, 'tesser.directory.json'), JSON.stringify({ keys }))
  const server = await startServer(t, { model, rows }, { folder, config: { plugins: [matrixPlugin] } })
  const tags = new Set<string>()
  for (const seed of seeds(4)) {
    const file = randomRoles(randomOf(seed))
    server.engine.permissions.replace(file)
    for (const principal of PRINCIPALS) {
      const where = `seed ${seed}: ${principal.name}`
      const headers: Record<string, string> = principal.key ? { authorization: `Bearer ${principal.key}` } : {}
      const { json: document, headers: answered, text } = await server.get('/$openapi', headers)
      tags.add(`${answered.etag}`)
      t.same(await problemsOf(document), [], where)
      const may = new Evaluator(file, principal, FACTS)
      const shown = CLASSES.filter(name => may.dataClass('read', name))
      const told = Object.keys(document.components.schemas).filter(name => !name.includes('.'))
      t.same(told, shown, `${where}: dataclasses`)
      for (const name of CLASSES) {
        const { properties } = document.components.schemas[name] ?? { properties: {} }
        const own = [...SCALARS[name], ...RELATIONS[name]]
        const expected = own.filter(each => shown.includes(name) && may.shows(name, each))
        t.same(
          own.filter(each => each in properties),
          expected,
          `${where}: attributes of ${name}`,
        )
        const operations = document.paths[`/${name}`] ?? {}
        const isSaved = shown.includes(name) && (may.dataClass('create', name) || may.dataClass('update', name))
        t.equal(operations.post?.operationId === `${name}.save`, isSaved, `${where}: saves of ${name}`)
        t.equal(
          'delete' in operations,
          shown.includes(name) && may.dataClass('drop', name),
          `${where}: drops of ${name}`,
        )
      }
      for (const [kind, owner, name, path] of FUNCTIONS) {
        const isThere = kind === 'singletonMethod' || owner === 'ds' || shown.includes(owner as 'Team')
        t.equal(path in document.paths, isThere && may.executes(kind, owner, name), `${where}: ${path}`)
      }
      // A name that is hidden in one dataclass and visible in another cannot be told apart.
      const seen = shown.flatMap(name => [...SCALARS[name], ...RELATIONS[name]].filter(each => may.shows(name, each)))
      const names = [...CLASSES, ...CLASSES.flatMap(name => [...SCALARS[name], ...RELATIONS[name]])]
      const hidden = names.filter(each => !seen.includes(each) && !shown.includes(each as 'Team'))
      t.same(
        hidden.filter(each => new RegExp(`(?<![A-Za-z])${each}(?![A-Za-z])`).test(text)),
        [],
        `${where}: hidden names`,
      )
      const again = await server.get('/$openapi', { ...headers, 'if-none-match': `${answered.etag}` })
      t.equal(again.status, 304)
    }
  }
  t.ok(tags.size > 4, `${tags.size} different documents`)
})
