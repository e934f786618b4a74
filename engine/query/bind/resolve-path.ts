import type { Attribute, RelationAttribute, ValueAttribute } from '../../catalog/attribute.ts'
import { isRelation } from '../../catalog/attribute.ts'
import type { DataClass } from '../../catalog/dataclass.ts'
import type { View } from '../../catalog/view.ts'
import type { PathStep } from '../parse/syntax-tree.ts'
import { excerpt } from '../../base/text/excerpt.ts'
import { QueryErrors } from '../contract/query-errors.ts'

/** A path of a query with its names looked up and its aliases replaced. */
export interface ResolvedPath {
  /** As written, for messages. */
  readonly text: string
  /** Relations to follow before {@link target}. */
  readonly relations: readonly RelationStep[]
  /** Attribute that is compared or sorted by. */
  readonly target: ValueAttribute | RelationAttribute
  /** Steps inside an object attribute; otherwise empty. */
  readonly elements: readonly ElementStep[]
  /** The path ends with `__KEY`, which stands for the entity itself: its values are equal only if they are addresses of one entity. */
  readonly isKey?: boolean
}

export interface RelationStep {
  readonly relation: RelationAttribute
  /** Steps with the same relation and class index may share the related entity. */
  readonly classIndex: number | undefined
}

/** A step inside a JSON value: a property, any element (`[]`), or the element that a letter stands for (`[a]`). */
export type ElementStep =
  | { readonly kind: 'property'; readonly name: string }
  | { readonly kind: 'any' }
  | { readonly kind: 'link'; readonly letter: string }

/**
 * Resolves a path from left to right.
 * @throws {QueryErrors.UNKNOWN_ATTRIBUTE}
 * @throws {QueryErrors.PATH} for `[]`, `{n}` or a further step where there is nothing to apply it to
 * Source: protocol notes, 2.9 and 2.10.
 */
export function resolvePath(steps: readonly PathStep[], dataClass: DataClass, view: View): ResolvedPath {
  const text = excerpt(steps.map(writeStep).join('.'))
  const relations: RelationStep[] = []
  let owner = dataClass
  for (const [position, step] of steps.entries()) {
    const stepAttribute = visibleAttribute(owner, step.name, view)
    if (stepAttribute.kind === 'alias')
      relations.push(...stepAttribute.relations.map(relation => ({ relation, classIndex: step.classIndex })))
    const target = stepAttribute.kind === 'alias' ? stepAttribute.target : stepAttribute
    const isObject = !isRelation(target) && target.type === 'object'
    if (step.element && !isObject) {
      throw QueryErrors.PATH(
        text,
        `"${step.name}" is not an object and has no elements; leave out ${writeElement(step)}`,
      )
    }
    if (step.classIndex !== undefined && !isRelation(stepAttribute) && stepAttribute.kind !== 'alias') {
      throw QueryErrors.PATH(text, `"${step.name}" is not a relation; leave out {${step.classIndex}}`)
    }
    if (isObject) {
      return { text, relations: extendIndexes(relations), target, elements: elementSteps(steps.slice(position), text) }
    }
    if (position === steps.length - 1) {
      return { text, relations: extendIndexes(relations), target, elements: [], isKey: step.name === KEY }
    }
    if (!isRelation(target)) {
      const next = excerpt(steps[position + 1]!.name)
      throw QueryErrors.PATH(text, `"${step.name}" is neither a relation nor an object and has no "${next}"`)
    }
    relations.push({ relation: target, classIndex: step.classIndex })
    owner = target.target
  }
  throw QueryErrors.PATH(text, 'it is empty; name an attribute')
}

const KEY = '__KEY'

/**
 * Extends a class index, which means another entity at its step, to the steps before it: in `roles.actor{2}.name` the role is
 * another one too. A path without an index never shares entities with a path that has one.
 */
const extendIndexes = (relations: readonly RelationStep[]): RelationStep[] =>
  relations.map(({ relation }, position) => ({
    relation,
    classIndex: relations.slice(position).find(({ classIndex }) => classIndex !== undefined)?.classIndex,
  }))

/**
 * Looks up a name. `__KEY` and the like are in every answer, so any caller that sees the dataclass may use them.
 * @throws {QueryErrors.UNKNOWN_ATTRIBUTE} also for an attribute outside of the view
 */
export function visibleAttribute(dataClass: DataClass, name: string, view: View): Attribute {
  const attribute = view.attribute(dataClass, name) ?? (view.shows(dataClass) ? dataClass.head.get(name) : undefined)
  if (attribute) return attribute
  throw QueryErrors.UNKNOWN_ATTRIBUTE(name, dataClass.name, view.suggestAttribute(dataClass, name))
}

/** Steps inside an object attribute, whose own name is the first of `steps`. */
function elementSteps(steps: readonly PathStep[], path: string): ElementStep[] {
  return steps.flatMap((step, position): ElementStep[] => {
    const element = step.element ? [step.element] : []
    if (position === 0) return element
    if (step.classIndex !== undefined) {
      throw QueryErrors.PATH(path, `"${excerpt(step.name)}" is a property; leave out {${step.classIndex}}`)
    }
    return [{ kind: 'property', name: step.name }, ...element]
  })
}

const writeStep = (step: PathStep): string =>
  `${step.name}${step.classIndex === undefined ? '' : `{${step.classIndex}}`}${writeElement(step)}`
const writeElement = ({ element }: PathStep): string =>
  element === undefined ? '' : element.kind === 'any' ? '[]' : `[${element.letter}]`
