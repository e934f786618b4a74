/** The published declarations of an entry of the package, as text that changes only when the API does. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import ts from 'typescript'

type Declaration =
  | ts.InterfaceDeclaration
  | ts.ClassDeclaration
  | ts.TypeAliasDeclaration
  | ts.FunctionDeclaration
  | ts.VariableStatement

interface Found {
  readonly file: string
  readonly declaration: Declaration
}

/**
 * Names that a declaration file exports, with their signatures, and below them our types that these mention: one step only, so
 * that the text stays readable. Comments, private members and the order of declarations have no effect.
 */
export function publicApi(entry: string): string {
  const files = new Map<string, ts.SourceFile>()
  const exported = new Map<string, Found | undefined>()
  for (const name of exportsOf(entry)) exported.set(name, find(name, entry))
  const mentioned = new Map<string, Found>()
  for (const found of exported.values()) {
    if (!found) continue
    for (const name of namesIn(found.declaration)) {
      const type = exported.has(name) ? undefined : findLocal(name, found.file)
      if (type) mentioned.set(name, type)
    }
  }
  const texts = (found: ReadonlyMap<string, Found | undefined>): string =>
    [...found]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, each]) => (each ? textOf(each) : `export ${name} // of another package`))
      .join('\n\n')
  return `${texts(exported)}\n\n// Types that these mention\n\n${texts(mentioned)}\n`

  function sourceOf(file: string): ts.SourceFile {
    let source = files.get(file)
    if (!source) {
      source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true)
      files.set(file, source)
    }
    return source
  }

  function exportsOf(file: string): string[] {
    return sourceOf(file).statements.flatMap(statement => {
      if (ts.isExportDeclaration(statement)) {
        const { exportClause } = statement
        if (exportClause && ts.isNamedExports(exportClause)) return exportClause.elements.map(({ name }) => name.text)
        return exportsOf(targetOf(statement, file)!)
      }
      return isDeclaration(statement) && isExported(statement) ? namesOf(statement) : []
    })
  }

  /** Declaration that a file exports under a name. @returns undefined if it comes from another package */
  function find(name: string, file: string): Found | undefined {
    for (const statement of sourceOf(file).statements) {
      if (isDeclaration(statement) && namesOf(statement).includes(name)) return { file, declaration: statement }
      if (!ts.isExportDeclaration(statement)) continue
      const target = targetOf(statement, file)
      const { exportClause } = statement
      if (exportClause && ts.isNamedExports(exportClause)) {
        const element = exportClause.elements.find(each => each.name.text === name)
        if (element) return target === undefined ? undefined : find((element.propertyName ?? element.name).text, target)
      } else if (target && exportsOf(target).includes(name)) return find(name, target)
    }
    return undefined
  }

  /** Declaration of a name inside a file: its own, or an imported one. */
  function findLocal(name: string, file: string): Found | undefined {
    for (const statement of sourceOf(file).statements) {
      if (isDeclaration(statement) && namesOf(statement).includes(name)) return { file, declaration: statement }
      if (!ts.isImportDeclaration(statement)) continue
      const bindings = statement.importClause?.namedBindings
      if (!bindings || !ts.isNamedImports(bindings)) continue
      const element = bindings.elements.find(each => each.name.text === name)
      const target = element && targetOf(statement, file)
      if (target) return find((element.propertyName ?? element.name).text, target)
    }
    return undefined
  }
}

/** File of an import; undefined: another package. */
function targetOf({ moduleSpecifier }: ts.ImportDeclaration | ts.ExportDeclaration, file: string): string | undefined {
  const { text } = moduleSpecifier as ts.StringLiteral
  if (!text.startsWith('.')) return undefined
  const target = join(dirname(file), text.replace(/(\.d)?\.ts$/, '.d.ts'))
  return existsSync(target) ? target : undefined
}

const isDeclaration = (node: ts.Node): node is Declaration =>
  ts.isInterfaceDeclaration(node) ||
  ts.isClassDeclaration(node) ||
  ts.isTypeAliasDeclaration(node) ||
  ts.isFunctionDeclaration(node) ||
  ts.isVariableStatement(node)

const isExported = (node: Declaration): boolean => hasModifier(node, ts.SyntaxKind.ExportKeyword)

const hasModifier = (node: ts.Node, kind: ts.SyntaxKind): boolean =>
  ts.canHaveModifiers(node) && (ts.getModifiers(node) ?? []).some(modifier => modifier.kind === kind)

const namesOf = (node: Declaration): string[] =>
  ts.isVariableStatement(node)
    ? node.declarationList.declarations.map(({ name }) => name.getText())
    : [node.name?.text ?? 'default']

/** Names of types that a declaration mentions, except in private members. */
function namesIn(declaration: Declaration): Set<string> {
  const names = new Set<string>()
  const visit = (node: ts.Node): void => {
    if (isPrivate(node)) return
    if (ts.isTypeReferenceNode(node) && ts.isIdentifier(node.typeName)) names.add(node.typeName.text)
    if (ts.isExpressionWithTypeArguments(node) && ts.isIdentifier(node.expression)) names.add(node.expression.text)
    ts.forEachChild(node, visit)
  }
  visit(declaration)
  return names
}

const isPrivate = (node: ts.Node): boolean =>
  hasModifier(node, ts.SyntaxKind.PrivateKeyword) ||
  (ts.isPropertyDeclaration(node) && ts.isPrivateIdentifier(node.name)) ||
  // Callers receive instances of engine classes and never construct them.
  ts.isConstructorDeclaration(node)

const printer = ts.createPrinter({ removeComments: true })

function textOf({ declaration }: Found): string {
  const { transformed } = ts.transform(declaration, [
    context => node => {
      const visit = (each: ts.Node): ts.Node | undefined =>
        isPrivate(each) ? undefined : ts.visitEachChild(each, visit, context)
      return ts.visitNode(node, visit) as Declaration
    },
  ])
  return printer.printNode(ts.EmitHint.Unspecified, transformed[0]!, declaration.getSourceFile())
}
