/** The data model as far as the user may see it. */
import { computed, signal } from '@preact/signals'
import { attributeOf, isRelation, type Attribute, type ClassFunction, type DataClass } from './model.ts'
import { ask } from './rest.ts'

export {
  type Attribute,
  attributeOf,
  type ClassFunction,
  type DataClass,
  isRelation,
  isVector,
  shapeOf,
} from './model.ts'

interface Catalog {
  readonly dataClasses: readonly DataClass[]
  readonly methods?: readonly ClassFunction[]
  readonly singletons?: readonly { readonly name: string; readonly methods?: readonly ClassFunction[] }[]
}

/** The loaded catalog; undefined until then. */
export const catalog = signal<Catalog | undefined>(undefined)
export const dataClasses = computed<ReadonlyMap<string, DataClass>>(
  () => new Map(catalog.value?.dataClasses.map(each => [each.name, each])),
)

/** Loads the catalog; called again after a login. */
export async function loadCatalog(): Promise<Catalog> {
  const { dataClasses = [], ...others } = await ask<Partial<Catalog>>('$catalog/$all')
  return { ...others, dataClasses }
}

/** Dataclass at the other end of a relation, if the user may see it. */
export function targetOf({ kind, type }: Attribute): DataClass | undefined {
  if (kind === 'relatedEntity') return dataClasses.value.get(type)
  return catalog.value?.dataClasses.find(each => each.collectionName === type)
}

/** The attribute at the end of a path over relations: `country.region.name`. */
export function attributeAt(dataClass: DataClass, path: string): Attribute | undefined {
  const [first = '', ...rest] = path.split('.')
  const attribute = attributeOf(dataClass, first)
  if (!attribute || rest.length === 0) return attribute
  const target = isRelation(attribute) ? targetOf(attribute) : undefined
  return target && attributeAt(target, rest.join('.'))
}
