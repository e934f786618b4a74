/** Search by meaning and by similarity, in dataclasses with vectors. */
import { addCondition, quote } from '../base/condition.ts'
import { partsOf, tokensOf } from '../base/filter-tokens.ts'
import { labelOf } from '../base/label.ts'
import { type Attribute, type DataClass, isRelation, isVector, SCORE } from '../base/model.ts'
import { textOf, treeOf } from './filter-tree.ts'

const MAX_COLUMNS = 8

export const vectorsOf = ({ attributes }: DataClass): readonly Attribute[] => attributes.filter(isVector)

/** Attributes that may accept a sentence: calculated texts of a dataclass with vectors. The catalog does not say more. */
export const meaningsOf = (dataClass: DataClass): readonly Attribute[] =>
  vectorsOf(dataClass).length === 0
    ? []
    : dataClass.attributes.filter(({ kind, type }) => kind === 'calculated' && type === 'string')

/** A filter by the meaning of a sentence, which replaces an earlier such condition. */
export function filterByMeaning(filter: string, attribute: Attribute, sentence: string): string {
  const condition = `${attribute.name} = ${quote(sentence)}`
  const { conditions } = partsOf(filter)
  const tree = treeOf(conditions)
  const otherTerms = tree?.terms.filter(
    ({ condition }) => condition.kind !== 'comparison' || condition.path !== attribute.name,
  )
  const otherConditions = tree && otherTerms ? textOf({ terms: otherTerms, order: [] }) : conditions
  return otherConditions ? addCondition(otherConditions, condition) : condition
}

/** Returns true if a filter has a condition on a vector or a meaning, so that entities have a score. */
export function hasScore(filter: string, dataClass: DataClass): boolean {
  const names = new Set([...vectorsOf(dataClass), ...meaningsOf(dataClass)].map(({ name }) => name))
  return tokensOf(filter).tokens.some(({ kind, text }) => kind === 'path' && names.has(text))
}

/** Columns with the score. @param columns text in the address, with widths; undefined for the default columns */
export function columnsWithScore(columns: string | undefined, dataClass: DataClass): string {
  if (columns?.split(',').some(each => each.split(':')[0] === SCORE)) return columns
  if (columns) return `${SCORE},${columns}`
  const label = labelOf(dataClass)
  const attributes = dataClass.attributes.filter(
    each =>
      each !== label && !isRelation(each) && !isVector(each) && each.kind !== 'calculated' && each.type !== 'object',
  )
  return [label.name, SCORE, ...attributes.map(({ name }) => name).slice(0, MAX_COLUMNS)].join(',')
}

export function columnsWithoutScore(columns: string | undefined): string | undefined {
  return columns
    ?.split(',')
    .filter(each => each.split(':')[0] !== SCORE)
    .join(',')
}
