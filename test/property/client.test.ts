/** Clients of random models compile; clients of random rights show what a naive evaluator allows, and no other name. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import ts from 'typescript'
import { ClassRegistry } from '../../engine/author/declare/class-registry.ts'
import { loadModel } from '../../engine/catalog/load-model.ts'
import { publicView } from '../../engine/catalog/view.ts'
import { hashKey } from '../../kernel/auth/directory.ts'
import { clientText } from '../../plugins/client/index.ts'
import { installTesser, runCompiler } from '../support/commands/author-package.ts'
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
import { modelOf } from '../support/reference/world.ts'
import { matrixPlugin } from '../support/plugins/test-plugins.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'
import { startServer } from '../support/servers/test-server.ts'
import { writeProject } from '../support/clients/typed-client.ts'

t.setTimeout(timeoutMs)

t.test('clients of random models compile', async t => {
  const folder = t.testdir()
  const files: Record<string, string> = {}
  for (const seed of seeds(isLong ? 200 : 8)) {
    const view = publicView(loadModel(modelOf(randomModel(randomOf(seed)))))
    const options = { source: `seed ${seed}`, dates: seed % 2 ? 'date' : 'text', isModule: true } as const
    files[`client${seed}.ts`] = clientText({ view, classes: new ClassRegistry(), mayCall: () => true }, options)
  }
  writeProject(folder, files)
  installTesser(folder)
  t.strictSame(runCompiler(folder), { code: 0, output: '' })
})

/** Names of the attributes of each dataclass, from the types of a client. */
function shapesOf(text: string): Map<string, Set<string>> {
  const shapes = new Map<string, Set<string>>()
  const source = ts.createSourceFile('client.ts', text, ts.ScriptTarget.Latest, true)
  for (const statement of source.statements) {
    if (!ts.isInterfaceDeclaration(statement) || !statement.name.text.startsWith('$')) continue
    const names = statement.members.flatMap(member => {
      if (!ts.isPropertySignature(member) || !/^(?:values|to|input)$/.test(member.name.getText())) return []
      return ts.isTypeLiteralNode(member.type!) ? member.type.members.map(each => each.name!.getText()) : []
    })
    shapes.set(statement.name.text.slice(1), new Set(names.filter(name => !name.startsWith('__'))))
  }
  return shapes
}

t.test('a client shows what its caller may see', async t => {
  const folder = temporaryFolder(t)
  const keys = PRINCIPALS.filter(({ key }) => key).map(({ name, key, privileges, roles }) => ({
    ...{ name, hash: hashKey(key), privileges, roles },
  }))
  writeFileSync(join(folder, 'tesser.directory.json'), JSON.stringify({ keys }))
  const server = await startServer(t, { model, rows }, { folder, config: { plugins: [matrixPlugin] } })
  for (const seed of seeds(isLong ? 40 : 4)) {
    const file = randomRoles(randomOf(seed))
    server.engine.permissions.replace(file)
    for (const principal of PRINCIPALS) {
      const where = `seed ${seed}: ${principal.name}`
      const headers: Record<string, string> = principal.key ? { authorization: `Bearer ${principal.key}` } : {}
      const { text } = await server.get('/$client', headers)
      const may = new Evaluator(file, principal, FACTS)
      const shown = CLASSES.filter(name => may.dataClass('read', name))
      const shapes = shapesOf(text)
      t.same([...shapes.keys()], shown, `${where}: dataclasses`)
      for (const name of shown) {
        const expected = [...SCALARS[name], ...RELATIONS[name]].filter(each => may.shows(name, each))
        const told = [...SCALARS[name], ...RELATIONS[name]].filter(each => shapes.get(name)!.has(each))
        t.same(told, expected, `${where}: attributes of ${name}`)
      }
      const calls: [method: string, isThere: boolean][] = [
        ['hello', may.executes('method', 'ds', 'hello')],
        ['cheer', shown.includes('Team') && may.executes('method', 'Team', 'cheer')],
        ['crowd', shown.includes('Person') && may.executes('method', 'Person', 'crowd')],
        ['ring', may.executes('singletonMethod', 'Bell', 'ring')],
      ]
      for (const [name, isThere] of calls) t.equal(new RegExp(`\\b${name}\\b`).test(text), isThere, `${where}: ${name}`)
      // The page for browsers has the same model, without types.
      const script = await server.get('/$client/client.js', headers)
      for (const name of CLASSES) {
        if (!shown.includes(name))
          t.notMatch(script.text, new RegExp(`"${name}"|(?:one|many) ${name}`), `${where}: script`)
      }
    }
  }
})
