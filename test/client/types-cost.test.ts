/** Cost of the types of a large model for the compiler. */
import { join } from 'node:path'
import t, { type Test } from 'tap'
import ts from 'typescript'
import { writeProject } from '../support/clients/typed-client.ts'
import { clientOf } from './generated-client.ts'

/** A model with many dataclasses, related to each other in many ways. */
function largeModel(classes: number, attributes: number): object {
  const nameOf = (index: number) => `C${index % classes}`
  const entries = Array.from({ length: classes }, (_, index) => {
    const values = Array.from({ length: attributes - 6 }, (_, each) => [
      `a${each}`,
      { type: each % 2 ? 'string' : 'number' },
    ])
    const relation = (name: string, target: number, key: string, inverseName: string) => [
      [key, { type: 'long' }],
      [name, { kind: 'relatedEntity', type: nameOf(target), foreignKey: key, inverseName }],
    ]
    const inverse = (name: string, source: number, of: string) => [
      name,
      { kind: 'relatedEntities', type: `${nameOf(source)}Selection`, inverseName: of },
    ]
    return [
      nameOf(index),
      {
        key: 'ID',
        attributes: Object.fromEntries([
          ['ID', { type: 'long', autoFill: 'increment' }],
          ...values,
          ...relation('next', index + 1, 'nextID', 'former'),
          ...relation('far', index + 7, 'farID', 'near'),
          inverse('former', index - 1 + classes, 'next'),
          inverse('near', index - 7 + classes, 'far'),
        ]),
      },
    ]
  })
  return { name: 'large', dataClasses: Object.fromEntries(entries) }
}

t.test('each of 300 queries on 120 dataclasses costs the compiler at most 500 instantiations', async t => {
  const folder = t.testdir()
  const client = clientOf(largeModel(120, 20))
  const query = (index: number): string => {
    const [a, b, c] = [index % 14, (index * 5 + 1) % 14, (index * 3 + 2) % 14]
    return `export async function q${index}(x: number) {
  const rows = await db.C${index % 120}.query\`a0 > \${x}\`
    .select('ID', 'a${a}', 'next.a${b}', 'next.far.a${c}', 'former.far.a${b}')
    .orderBy('next.a${c} desc').top(${index}).list()
  const [row] = rows
  return [row!.ID, row!.a${a}, row!.next?.a${b}, row!.next?.far?.a${c}, row!.former.entities[0]?.far?.a${b}] as const
}\n`
  }
  const costOf = (count: number): number => {
    const project = join(folder, String(count))
    const program = `import { createClient } from './client.ts'\nconst db = createClient('/rest')\nexport { db }\n`
    const queries = Array.from({ length: count }, (_, index) => query(index)).join('')
    writeProject(project, { 'client.ts': client, 'program.ts': program + queries })
    return instantiations(t, project)
  }
  const [none, all] = [costOf(1), costOf(301)]
  const each = (all - none) / 300
  t.comment(`${each} instantiations for each query, ${none} for the model and the first`)
  t.ok(each <= 500, `${each} instantiations`)
})

/** Number of type instantiations in a program, which must have no errors. */
function instantiations(t: Test, folder: string): number {
  const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => {} }
  const { options, fileNames } = ts.getParsedCommandLineOfConfigFile(join(folder, 'tsconfig.json'), {}, host)!
  const program = ts.createProgram(fileNames, options)
  const errors = ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '))
  t.same(errors, [], 'no errors')
  return program.getInstantiationCount()
}
