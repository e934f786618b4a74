import type { TextLimits } from './limits.ts'
import { parseQuery } from './parse-query.ts'
import type { Expression, Span } from './syntax-tree.ts'

/**
 * Replaces each value of a filter by `?`, for the log: values may be secret, names are those of the model.
 * @throws {ParseErrors} if the text is not a filter
 */
export function withoutValues(text: string, limits: TextLimits): string {
  const { condition } = parseQuery(text, limits)
  let result = ''
  let end = 0
  for (const span of condition ? valuesIn(condition) : []) {
    result += `${text.slice(end, span.start)}?`
    end = span.end
  }
  return result + text.slice(end)
}

/** Spans of the values in the order of the text. */
function valuesIn(expression: Expression): Span[] {
  switch (expression.kind) {
    case 'comparison':
      return expression.value.kind === 'literal' || expression.value.kind === 'list' ? [expression.value.span] : []
    case 'not':
      return valuesIn(expression.operand)
    case 'group':
      return valuesIn(expression.inner)
    case 'truth':
      return []
    case 'and':
    case 'or':
    case 'except':
      return [...valuesIn(expression.left), ...valuesIn(expression.right)]
  }
}
