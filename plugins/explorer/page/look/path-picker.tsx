import { attributeOf, type DataClass, isRelation, targetOf } from '../base/catalog.ts'
import { labelOf } from '../base/label.ts'
import type { Attribute } from '../base/model.ts'
import { text } from './texts.ts'

interface PathPickerProps {
  readonly label: string
  readonly dataClass: DataClass
  readonly path: string
  /** Filters the attributes that are offered in addition to N→1 relations. */
  readonly isOffered: (attribute: Attribute) => boolean
  readonly onPick: (path: string) => void
}

/** A list of attributes for each step of a path over N→1 relations. */
export function PathPicker({ label, dataClass, path, isOffered, onPick }: PathPickerProps) {
  const steps = path.split('.')
  const lists: { dataClass: DataClass; name: string }[] = []
  let owner: DataClass | undefined = dataClass
  for (const step of steps) {
    if (!owner) break
    lists.push({ dataClass: owner, name: step })
    const attribute = attributeOf(owner, step)
    owner = attribute && isRelation(attribute) ? targetOf(attribute) : undefined
  }
  return (
    <span class="path">
      {lists.map((list, depth) => (
        <select
          key={`${depth} ${list.dataClass.name}`}
          aria-label={depth === 0 ? label : text('through', { relation: steps[depth - 1]! })}
          value={list.name}
          onChange={({ currentTarget }) =>
            onPick([...steps.slice(0, depth), ...completed(list.dataClass, currentTarget.value, isOffered)].join('.'))
          }
        >
          {list.dataClass.attributes
            .filter(each => isOffered(each) || leads(each))
            .map(each => (
              <option key={each.name} value={each.name}>
                {leads(each) ? `${each.name} →` : each.name}
              </option>
            ))}
        </select>
      ))}
    </span>
  )
}

/** Returns true if the attribute leads to attributes of another dataclass. */
const leads = (attribute: Attribute): boolean => attribute.kind === 'relatedEntity' && targetOf(attribute) !== undefined

/** A name; for a relation, followed by an offered attribute of its target, preferably the label. */
function completed(dataClass: DataClass, name: string, isOffered: PathPickerProps['isOffered']): string[] {
  const attribute = attributeOf(dataClass, name)
  const target = attribute && leads(attribute) ? targetOf(attribute) : undefined
  if (!target) return [name]
  const label = labelOf(target)
  const next = isOffered(label) ? label : target.attributes.find(isOffered)
  return next ? [name, next.name] : [name]
}
