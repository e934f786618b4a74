import { type ClassFunction, type ClassRegistry, type DataClass, describeAll, type View } from '../../engine/index.ts'
import { type DeclaredParameter, type Registered, SELECTIONS } from '../../kernel/api.ts'

/** An attribute as the catalog describes it: the parts that a client needs. */
export interface AttributeDescription {
  readonly name: string
  readonly kind: 'storage' | 'calculated' | 'alias' | 'relatedEntity' | 'relatedEntities'
  /** A value type; for a relation the dataclass, or its selection. */
  readonly type: string
  readonly identifying?: true
  readonly mandatory?: true
  readonly readOnly?: true
  readonly foreignKey?: string
  readonly description?: string
  readonly simpleDate?: boolean
  /** All values that it can have. */
  readonly choices?: readonly string[]
  /** Decimal places. */
  readonly scale?: number
  /** Length of a vector. */
  readonly dimension?: number
}

export interface ClassDescription {
  readonly name: string
  readonly collectionName: string
  readonly description?: string
  readonly attributes: readonly AttributeDescription[]
  readonly key: readonly { readonly name: string }[]
}

type Functions = readonly ClassFunction[]

/** The model and its functions as one caller may see them. */
export interface VisibleModel {
  readonly dataClasses: readonly (ClassDescription & {
    readonly functions: Readonly<Record<'dataClass' | 'selection' | 'entity', Functions>>
  })[]
  readonly dataStore: Functions
  readonly singletons: ReadonlyMap<string, Functions>
  /** Parameters of reads that plugins have added. */
  readonly parameters: readonly DeclaredParameter[]
}

/** A model and the rights of the caller who sees it. */
export interface ModelSource {
  readonly view: View
  readonly classes: Pick<ClassRegistry, 'dataStore' | 'singletons' | 'find' | 'names'>
  mayCall(classFunction: ClassFunction): boolean
  /** Registered parameters; when absent, the client has no parameters of plugins. */
  readonly registered?: Pick<Registered, 'declared'>
}

export function visibleModel({ view, classes, mayCall, registered }: ModelSource): VisibleModel {
  const functions = ({ name: dataClass }: Pick<DataClass, 'name'>, isEntity: boolean): Functions =>
    classes
      .names(dataClass, isEntity)
      .map(name => classes.find(dataClass, name, isEntity)!)
      .filter(mayCall)
  const { dataClasses } = describeAll(view) as unknown as { dataClasses: readonly ClassDescription[] }
  return {
    dataClasses: dataClasses.map(dataClass => {
      const ownFunctions = functions(dataClass, false)
      const kind = (targetKind: string): Functions => [
        ...new Set(ownFunctions.filter(({ target }) => target.kind === targetKind)),
      ]
      return {
        ...dataClass,
        functions: {
          dataClass: kind('dataClass'),
          selection: kind('entitySelection'),
          entity: functions(dataClass, true),
        },
      }
    }),
    dataStore: [...classes.dataStore.values()].filter(mayCall),
    singletons: new Map(
      [...classes.singletons]
        .map(([name, all]) => [name, [...all.values()].filter(mayCall)] as const)
        .filter(([, callable]) => callable.length > 0),
    ),
    parameters: firstOfEach(
      // Commands do not answer with entities.
      (registered?.declared ?? []).filter(
        ({ isBuiltIn, verbs, on = SELECTIONS }) => !isBuiltIn && !verbs && on.includes('list'),
      ),
    ),
  }
}

/** The first of several declarations of a parameter. */
const firstOfEach = (parameters: readonly DeclaredParameter[]): DeclaredParameter[] =>
  parameters.filter(({ name }, i) => parameters.findIndex(each => each.name === name) === i)
