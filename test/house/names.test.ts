/** Exported names are nouns for things and verbs for actions, as CONTRIBUTING says. */
import t from 'tap'
import ts from 'typescript'
import { sources } from '../support/checks/sources.ts'

/** Participles and adjectives that say nothing without their noun: `knownNames`, not `known`. */
const BARE = new Set(
  `added allowed answered applied asked attached begun bound built called changed checked chosen claimed closed computed copied
  counted covered cut declared decoded deleted denied described divided done dropped enough escaped existing expired exposed failed
  fetched filtered folded found freed given gone granted grouped held hidden ignored issued joined kept known left limited listed live
  loaded locked lost made marked matched matching merged met missing moved named narrowed needed opened others own owned parsed passed
  plain present promised queued quoted received referenced refused rejected related released removed renamed replaced resolved rest
  restricted returned running said saved seen sent settled shared shortened shown skipped sorted started stopped stored taken
  thrown touched tried undone unused used visible waiting wanted whole written`.split(/\s+/),
)

/** Public names of the plugin API. */
const PUBLIC = new Set([
  'engine/author/declare/decorators.ts: exposed',
  'engine/author/declare/decorators.ts: calculated',
  'kernel/conditional.ts: tagged',
  'kernel/reply.ts: encoded',
])

t.test('exported names say what they name', t => {
  const bare = sources('.ts', '.tsx').flatMap(({ path, text }) => {
    // AssemblyScript is another language, which the compiler of TypeScript cannot rename.
    if (path.startsWith('test/') || path.startsWith('engine/simd/assembly/')) return []
    const { statements } = ts.createSourceFile(path, text, ts.ScriptTarget.Latest)
    return statements
      .flatMap(exportedNames)
      .filter(name => BARE.has(name) || /^[a-z]{4,}ed$/.test(name))
      .map(name => `${path}: ${name}`)
  })
  t.same(
    bare.filter(name => !PUBLIC.has(name)),
    [],
  )
  t.end()
})

function exportedNames(statement: ts.Statement): string[] {
  const isExported =
    ts.canHaveModifiers(statement) &&
    ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
  if (!isExported) return []
  if (!ts.isVariableStatement(statement)) {
    const { name } = statement as ts.DeclarationStatement
    return name ? [name.text] : []
  }
  return statement.declarationList.declarations.flatMap(({ name }) => (ts.isIdentifier(name) ? [name.text] : []))
}
