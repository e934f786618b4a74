import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import ts from 'typescript'

const sourceOf = (file: string): ts.SourceFile =>
  ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true)

/** Public members of an interface or a class, each once. */
export function membersOf(file: string, name: string): string[] {
  const declaration = sourceOf(file).statements.find(
    (each): each is ts.InterfaceDeclaration | ts.ClassDeclaration =>
      (ts.isInterfaceDeclaration(each) || ts.isClassDeclaration(each)) && each.name?.text === name,
  )
  if (!declaration) throw new Error(`${file} has no ${name}`)
  const names = (declaration.members as ts.NodeArray<ts.ClassElement | ts.TypeElement>).flatMap(member => {
    const fields = ts.isConstructorDeclaration(member) ? member.parameters.filter(field => field.modifiers) : [member]
    return fields.flatMap(field => (field.name && isPublic(field) ? [field.name.getText()] : []))
  })
  return [...new Set(names)]
}

const isPublic = (node: ts.NamedDeclaration): boolean =>
  !(node.name && ts.isPrivateIdentifier(node.name)) &&
  !(ts.canHaveModifiers(node) && ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword))

/** Names that a module exports, types included. */
export function exportsOf(file: string): string[] {
  return sourceOf(file).statements.flatMap(statement => {
    if (ts.isExportDeclaration(statement)) {
      const { exportClause, moduleSpecifier } = statement
      if (exportClause && ts.isNamedExports(exportClause)) return exportClause.elements.map(({ name }) => name.text)
      return exportsOf(join(dirname(file), (moduleSpecifier as ts.StringLiteral).text))
    }
    const isExported = ts.canHaveModifiers(statement) && ts.getModifiers(statement)?.some(isExport)
    if (!isExported) return []
    if (ts.isVariableStatement(statement))
      return statement.declarationList.declarations.map(({ name }) => name.getText())
    return [(statement as ts.DeclarationStatement).name!.getText()]
  })
}

const isExport = ({ kind }: ts.Modifier): boolean => kind === ts.SyntaxKind.ExportKeyword
