import { suggestion } from '../base/suggestion.ts'
import type { CheckedDataClass } from './checked-dataclass.ts'
import { TYPES_OF_OPTION } from './model-schema.ts'

/** Problems of the attributes of a dataclass that are unique together. */
export function uniqueProblems({ name, model, attributes }: CheckedDataClass): string[] {
  const { unique = [], storage } = model
  const path = `dataClasses.${name}.unique`
  const problems: string[] = []
  if (unique.length > 0 && storage && !storage.owned) {
    problems.push(`${path}: the table of ${name} is as others made it, and its database keeps values unique`)
  }
  const earlier = new Map<string, number>()
  for (const [i, list] of unique.entries()) {
    problems.push(
      ...list.flatMap((member, at) =>
        memberProblems(member, list.indexOf(member) < at).map(text => `${path}.${i}: ${text}`),
      ),
    )
    const key = [...list].sort().join()
    const same = earlier.get(key)
    if (same !== undefined) problems.push(`${path}.${i}: has the attributes of ${path}.${same}; leave one of them out`)
    else earlier.set(key, i)
  }
  return problems

  function memberProblems(member: string, isRepeated: boolean): string[] {
    if (isRepeated) return [`"${member}" is in it twice`]
    const attribute = attributes.get(member)
    if (!attributes.has(member))
      return [`there is no attribute "${member}" in ${name}${suggestion(member, attributes.keys())}`]
    // The attribute has the wrong shape, which has already been reported.
    if (!attribute) return []
    if (attribute.kind === 'relatedEntity') {
      return [`"${member}" is a relation; name its foreign key, "${attribute.foreignKey}"`]
    }
    if (attribute.kind === 'relatedEntities' || attribute.kind === 'alias') {
      return [`"${member}" is a ${attribute.kind} attribute; only values that are stored can be unique together`]
    }
    if (attribute.kind === 'calculated' && !attribute.stored) {
      return [`"${member}" is calculated at each read; add "stored": true to it`]
    }
    if (member === model.key || ('unique' in attribute && attribute.unique))
      return [`"${member}" is unique by itself; leave it out`]
    const types = TYPES_OF_OPTION.get('unique')!
    return types.includes(attribute.type)
      ? []
      : [`"${member}" has type ${attribute.type}; unique values have one of ${types.join(', ')}`]
  }
}
