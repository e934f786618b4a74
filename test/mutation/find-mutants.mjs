import ts from 'typescript'

/**
 * Places of a source file where one change makes it wrong, as an engineer in a hurry would: a comparison off by one, a
 * condition dropped, a call forgotten.
 *
 * Harmless places are skipped: wording of messages, log lines, sizes of buffers, timers that keep no process alive.
 *
 * @typedef {object} Mutant
 * @property {number} start
 * @property {number} end
 * @property {number} line
 * @property {string} within names of the declarations around it, as in `Restrictions.visible`
 * @property {string} original
 * @property {string} mutated text in place of `original`, an expression or a statement
 * @property {string} kind
 *
 * @param {string} path
 * @param {string} text
 * @returns {Mutant[]}
 */
export function findMutants(path, text) {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const mutants = []
  const names = []

  const add = (node, mutated, kind) => {
    const start = node.getStart(source)
    const { line } = source.getLineAndCharacterOfPosition(start)
    const original = text.slice(start, node.end)
    mutants.push({ start, end: node.end, line: line + 1, within: names.join('.'), original, mutated, kind })
  }
  const textOf = node => text.slice(node.getStart(source), node.end)

  const visit = node => {
    if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isImportDeclaration(node)) return
    if (ts.isDecorator(node) || ts.isEnumDeclaration(node) || isConstantOf(node)) return
    if (isError(node) || isLogging(node)) return
    const name = nameOf(node)
    if (name !== undefined) names.push(name)
    mutate(node)
    ts.forEachChild(node, visit)
    if (name !== undefined) names.pop()
  }

  const mutate = node => {
    if (ts.isBinaryExpression(node)) {
      const other = COMPARISONS.get(node.operatorToken.kind)
      const [left, right] = [textOf(node.left), textOf(node.right)]
      if (other) add(node, `(${left} ${other} ${right})`, `comparison ${other}`)
      if (node.operatorToken.kind === ts.SyntaxKind.AmpersandAmpersandToken) {
        add(node, `(${left})`, 'second condition dropped')
        add(node, `(${right})`, 'first condition dropped')
      }
      if (node.operatorToken.kind === ts.SyntaxKind.BarBarToken) {
        add(node, `(${left})`, 'second alternative dropped')
        add(node, `(${right})`, 'first alternative dropped')
      }
      if (node.operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken) add(node, `(${left})`, 'default dropped')
      const arithmetic = ARITHMETIC.get(node.operatorToken.kind)
      if (arithmetic && !isText(node.left) && !isText(node.right)) {
        add(node, `(${left} ${arithmetic} ${right})`, `arithmetic ${arithmetic}`)
      }
    } else if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken) {
      add(node, `(${textOf(node.operand)})`, 'negation dropped')
    } else if (ts.isConditionalExpression(node)) {
      add(node, `(${textOf(node.whenTrue)})`, 'always the first')
      add(node, `(${textOf(node.whenFalse)})`, 'always the second')
    } else if (ts.isIfStatement(node)) {
      // Conditions are not forced to be true: without a check for `undefined`, most code ends in a TypeError, which teaches little.
      add(node.expression, 'false', 'condition never true')
    } else if (ts.isExpressionStatement(node) && isCall(node.expression) && !isSuper(node.expression)) {
      add(node.expression, 'undefined', 'call forgotten')
    } else if (ts.isNumericLiteral(node) && ts.isCallOrNewExpression(node.parent) && !isAllocation(node.parent)) {
      add(node, `(${node.text} + 1)`, 'number plus 1')
    }
  }
  visit(source)
  return mutants
}

const { SyntaxKind } = ts
const COMPARISONS = new Map([
  [SyntaxKind.LessThanToken, '<='],
  [SyntaxKind.LessThanEqualsToken, '<'],
  [SyntaxKind.GreaterThanToken, '>='],
  [SyntaxKind.GreaterThanEqualsToken, '>'],
  [SyntaxKind.EqualsEqualsEqualsToken, '!=='],
  [SyntaxKind.ExclamationEqualsEqualsToken, '==='],
])
const ARITHMETIC = new Map([
  [SyntaxKind.PlusToken, '-'],
  [SyntaxKind.MinusToken, '+'],
  [SyntaxKind.AsteriskToken, '+'],
])

const isText = node => ts.isStringLiteralLike(node) || ts.isTemplateExpression(node) || ts.isBinaryExpression(node)
const isCall = node => ts.isCallExpression(node) || (ts.isAwaitExpression(node) && ts.isCallExpression(node.expression))
const isSuper = node => ts.isCallExpression(node) && node.expression.kind === SyntaxKind.SuperKeyword

/** Registries declare errors and their texts; which error is thrown depends on the condition around it. */
const isError = node =>
  (ts.isCallExpression(node) &&
    ts.isPropertyAccessExpression(node.expression) &&
    /Errors$/.test(node.expression.expression.getText())) ||
  (ts.isNewExpression(node) && /Error$/.test(node.expression.getText()))
const isLogging = node =>
  ts.isCallExpression(node) &&
  /(^|\.)(log|logger|console)\.(trace|debug|info|warn|error|log)$|\.unref$/.test(node.expression.getText())
/** Initial sizes of buffers. */
const isAllocation = node => /^Buffer\.alloc|Array$|ArrayBuffer$/.test(node.expression.getText())

/** Name of a declaration that a reader would look for. */
function nameOf(node) {
  const isNamed =
    ts.isFunctionDeclaration(node) ||
    ts.isClassDeclaration(node) ||
    ts.isMethodDeclaration(node) ||
    ts.isAccessor(node) ||
    (ts.isVariableDeclaration(node) && ts.isSourceFile(node.parent.parent.parent)) ||
    (ts.isPropertyDeclaration(node) && node.initializer !== undefined)
  if (ts.isConstructorDeclaration(node)) return 'constructor'
  return isNamed && node.name ? node.name.getText() : undefined
}

/** Tables of constants are data: a wrong one is a wrong text, which is not worth sampling. */
function isConstantOf(node) {
  return (
    ts.isVariableStatement(node) && node.declarationList.declarations.every(({ initializer }) => isData(initializer))
  )
}

const isData = node =>
  !node ||
  ts.isLiteralExpression(node) ||
  (ts.isAsExpression(node) && isData(node.expression)) ||
  (ts.isCallExpression(node) && textStarts(node, 'defineErrors'))
const textStarts = (node, text) => ts.isIdentifier(node.expression) && node.expression.text === text
