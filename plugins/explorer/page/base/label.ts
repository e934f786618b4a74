/** The attribute by which users recognise the entities of a dataclass. */
import { type Attribute, attributeOf, type DataClass, isRelation } from './model.ts'
import { plainName } from './plain-name.ts'

/** Plain names of typical labels, the best first. */
const NAMES = ['name', 'title', 'label', 'displayname', 'fullname', 'subject', 'caption']
const ENDINGS = /(?:name|title|label)$/i
const CODES = /(?:code|id|uuid|key|hash)$/i
const LONG = 500

const labels = new WeakMap<DataClass, Attribute>()

/** The label: a short text, preferably a stored one with a typical name; otherwise the key. */
export function labelOf(dataClass: DataClass): Attribute {
  const label = labels.get(dataClass) ?? chooseLabel(dataClass)
  labels.set(dataClass, label)
  return label
}

function chooseLabel(dataClass: DataClass): Attribute {
  const foreignKeys = new Set(dataClass.attributes.map(({ foreignKey }) => foreignKey))
  const texts = dataClass.attributes.filter(
    each => !isRelation(each) && each.type === 'string' && !each.multiLine && !foreignKeys.has(each.name),
  )
  const best = texts
    .map(attribute => ({ attribute, score: scoreOf(attribute) }))
    .reduce<{ attribute?: Attribute; score: number }>((best, each) => (each.score > best.score ? each : best), {
      score: 0,
    })
  const key = dataClass.key[0]
  return best.attribute ?? (key && attributeOf(dataClass, key.name)) ?? dataClass.attributes[0]!
}

function scoreOf({ name, kind, identifying, unique, mandatory, indexed, maxLength = 0 }: Attribute): number {
  const place = NAMES.indexOf(plainName(name))
  const byName = place >= 0 ? 100 - place : ENDINGS.test(name) ? 60 : CODES.test(name) ? -20 : 1
  const byKind = kind === 'alias' ? -60 : 5
  const byRules = (unique ? 10 : 0) + (mandatory ? 8 : 0) + (indexed ? 4 : 0) - (identifying ? 25 : 0)
  return byName + byKind + byRules - (maxLength > LONG ? 30 : 0)
}
