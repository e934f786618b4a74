/** Search for words instead of a filter: finds entities that contain them. */
import { quote } from '../base/condition.ts'
import { tokensOf } from '../base/filter-tokens.ts'
import { labelOf } from '../base/label.ts'
import { type Attribute, attributeOf, type DataClass } from '../base/model.ts'

const MAX_WORDS = 6
const MAX_ATTRIBUTES = 6

interface QuickFilter {
  readonly filter: string
  /** Names of the searched attributes. */
  readonly attributes: readonly string[]
}

/**
 * The filter for a text that consists of words and is not a filter: `los angeles` finds entities with both words in text attributes,
 * each word in any of them.
 * @returns undefined for other texts, and if there are no text attributes
 */
export function quickFilter(text: string, dataClass: DataClass): QuickFilter | undefined {
  const words = text.trim().split(/\s+/)
  const isFilter =
    /["'=<>!#%&|^()[\]{}:\\@]/.test(text) ||
    words[0] === '' ||
    attributeOf(dataClass, words[0]!.replace(/\..*/, '')) !== undefined ||
    tokensOf(text).tokens.some(({ kind }) => kind === 'comparator' || kind === 'not' || kind === 'orderBy')
  const attributes = searched(dataClass)
  if (isFilter || words.length > MAX_WORDS || attributes.length === 0) return undefined
  const conditions = words.map(word => {
    const any = attributes.map(name => `${name} = ${quote(`@${word}@`)}`).join(' or ')
    return words.length > 1 && attributes.length > 1 ? `(${any})` : any
  })
  return { filter: conditions.join(' and '), attributes }
}

/** Searched attributes: the label first, then short texts, then long ones. */
function searched(dataClass: DataClass): readonly string[] {
  const texts = dataClass.attributes.filter(
    ({ kind, type, name }) => kind === 'storage' && type === 'string' && /^[\w$\-\u0080-\uffff]+$/.test(name),
  )
  const label = labelOf(dataClass)
  const rank = (attribute: Attribute): number => (attribute === label ? 0 : attribute.multiLine ? 2 : 1)
  return texts
    .map(attribute => ({ name: attribute.name, rank: rank(attribute) }))
    .sort((one, other) => one.rank - other.rank)
    .slice(0, MAX_ATTRIBUTES)
    .map(({ name }) => name)
}
