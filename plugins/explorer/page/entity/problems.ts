/** Problems of a draft that the catalog reveals. */
import { attributeOf } from '../base/catalog.ts'
import { changedInputs, readInput } from './changes.ts'
import type { Draft } from './draft.ts'
import { editable, violationOf } from './editor.ts'
import { text } from './texts.ts'

/**
 * Messages by attribute.
 * @param isComplete true to report missing values too; false while the user is still typing
 */
export function problemsOf(draft: Draft, isComplete: boolean): ReadonlyMap<string, readonly string[]> {
  const problems = new Map<string, readonly string[]>()
  for (const [name, input] of changedInputs(draft)) {
    const attribute = attributeOf(draft.dataClass, name)!
    const result = readInput(attribute, input)
    if ('fault' in result) {
      problems.set(name, [
        text(result.fault.code, { detail: result.fault.detail ?? '', count: attribute.dimension ?? 0 }),
      ])
      continue
    }
    const violation = violationOf(attribute, result.json)
    if (violation) problems.set(name, [text(violation.rule, { bound: violation.bound })])
  }
  if (!isComplete || draft.base) return problems
  for (const { name, mandatory, foreignKey } of editable(draft.dataClass, true)) {
    const isNeeded = mandatory || (foreignKey && attributeOf(draft.dataClass, foreignKey)?.mandatory)
    const isGiven = draft.files.get(name) || (draft.inputs.get(name) ?? null) !== null
    if (isNeeded && !isGiven) problems.set(name, [text('mandatory')])
  }
  return problems
}
