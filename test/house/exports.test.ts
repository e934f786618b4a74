/** Exports are imported by another file; all other declarations are private to their file. */
import { dirname, join, normalize } from 'node:path'
import t from 'tap'
import ts from 'typescript'
import { sources } from '../support/checks/sources.ts'

/** Entries of the package, modules whose classes the server finds by their names, and texts that the build collects. */
const LOADED = [
  /^plugins\/explorer\/page\/base\/texts\.ts$/,
  /^plugins\/client\/page\.ts$/,
  /^engine\/index\.ts$/,
  /^kernel\/(?:api|testing)\.ts$/,
  /(?:^|\/)classes\.ts$/,
  /^plugins\/examples\/help-desk\/(?:tickets|comments|mails|gateway)\.ts$/,
  /^plugins\/examples\/rules\/(?:library|stock|accounts|playlists)\.ts$/,
]

/** Names of exported declarations. */
function exportsOf(source: ts.SourceFile): string[] {
  return source.statements.flatMap(statement => {
    if (!ts.canHaveModifiers(statement)) return []
    const modifiers = ts.getModifiers(statement)?.map(({ kind }) => kind) ?? []
    if (!modifiers.includes(ts.SyntaxKind.ExportKeyword) || modifiers.includes(ts.SyntaxKind.DefaultKeyword)) return []
    if (!ts.isVariableStatement(statement)) return [(statement as ts.DeclarationStatement).name!.getText(source)]
    return statement.declarationList.declarations.map(({ name }) => name.getText(source))
  })
}

/** `file#name` for everything that a file imports or re-exports; `file#*` for all of a file. */
function importsOf(source: ts.SourceFile): string[] {
  const target = (path: string): string => normalize(join(dirname(source.fileName), path))
  const lazy = [...source.text.matchAll(/\bimport\('(\.[^']+)'\)/g)].map(([, path]) => `${target(path!)}#*`)
  const fixed = source.statements.flatMap(statement => {
    if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) return []
    if (!statement.moduleSpecifier || !ts.isStringLiteral(statement.moduleSpecifier)) return []
    const file = target(statement.moduleSpecifier.text)
    const names = ts.isImportDeclaration(statement) ? statement.importClause?.namedBindings : statement.exportClause
    if (!names || ts.isNamespaceImport(names) || ts.isNamespaceExport(names)) return [`${file}#*`]
    return names.elements.map(({ name, propertyName }) => `${file}#${(propertyName ?? name).text}`)
  })
  return [...lazy, ...fixed]
}

t.test('every export of the product is imported somewhere', async t => {
  const files = sources('.ts', '.tsx')
    .filter(({ path }) => !path.startsWith('engine/simd/assembly/'))
    .map(({ path, text }) => ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true))
  const imported = new Set(files.flatMap(importsOf))
  const alone = files
    .filter(({ fileName }) => !fileName.startsWith('test/') && !LOADED.some(pattern => pattern.test(fileName)))
    .flatMap(source => exportsOf(source).map(name => ({ file: source.fileName, name })))
    .filter(({ file, name }) => !imported.has(`${file}#${name}`) && !imported.has(`${file}#*`))
  t.same(
    alone.map(({ file, name }) => `${file}: ${name}`),
    [],
  )
})
