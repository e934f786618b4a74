import type { Config } from '../../../config/load-config.ts'
import { type DraftAttribute, type DraftModel, grow, inOrder } from '../draft-model.ts'
import type { ClonePlan } from './class-plan.ts'
import { Target } from './target.ts'

interface FinishOptions {
  /** Treatment of foreign keys whose entity does not exist: the relation is left out of the model, or they become null. */
  readonly dangling: 'keep' | 'null'
  readonly onNote: (note: string) => void
}

/**
 * Finds the model of the finished store: the planned model without relations, limits and unique attributes to which the entities do not
 * conform. Changes nothing in the store.
 */
export async function finishedModel(config: Config, plan: ClonePlan, options: FinishOptions): Promise<DraftModel> {
  let { model } = plan
  for (;;) {
    const faults = (await faultsOf(config, model)).filter(fault => !isExpected(fault, plan, model, options))
    if (faults.length === 0) return model
    for (const fault of faults) {
      const { subject, reason } = fault
      const reducedModel = without(model, fault)
      if (!reducedModel) throw new Error(reason)
      model = reducedModel
      options.onNote(`${subject} is left out of the model: ${reason}`)
    }
    model = withoutBrokenAliases(model, options.onNote)
  }
}

/** Migrates the store to its model. Can be repeated after an interruption. */
export async function finishStore(config: Config, model: DraftModel): Promise<void> {
  const target = await Target.open(config, model, { allowLoss: true })
  await target.close()
}

interface Fault {
  /** `Book.author`: relation, limits or uniqueness. */
  readonly subject: string
  readonly dataClass: string
  readonly attribute: string
  readonly reason: string
}

/** Sentences of a refused migration begin with the name of the attribute. */
const FAULT = /^ {2}- (([^. ]+)\.([^. ]+)) (.*)$/

async function faultsOf(config: Config, model: DraftModel): Promise<Fault[]> {
  try {
    const target = await Target.open(config, model, { allowLoss: false })
    await target.close()
    return []
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'MigrationError') throw error
    const faults = error.message.split('\n').flatMap(line => {
      const [, subject, dataClass, attribute, reason] = FAULT.exec(line) ?? []
      return subject === undefined
        ? []
        : [{ subject, dataClass: dataClass!, attribute: attribute!, reason: `it ${reason}` }]
    })
    if (faults.length === 0) throw error
    return faults
  }
}

/** True if the finished store loses this on purpose. */
function isExpected(
  { dataClass, attribute }: Fault,
  { classes }: ClonePlan,
  { dataClasses }: DraftModel,
  { dangling }: FinishOptions,
): boolean {
  if (classes.some(({ name, stamp }) => name === dataClass && stamp === attribute)) return true
  return dangling === 'null' && dataClasses[dataClass]?.attributes[attribute]?.kind === 'relatedEntity'
}

const LIMITS = new Set(['mandatory', 'unique', 'minValue', 'maxValue', 'minLength', 'maxLength', 'pattern', 'choices'])

/** @returns undefined if the attribute has nothing that could be left out */
function without(model: DraftModel, { dataClass, attribute }: Fault): DraftModel | undefined {
  const definition = model.dataClasses[dataClass]?.attributes[attribute]
  if (!definition) return undefined
  if (definition.kind === 'relatedEntity') return withoutRelation(model, dataClass, attribute)
  const reducedAttribute = Object.fromEntries(Object.entries(definition).filter(([name]) => !LIMITS.has(name)))
  if (Object.keys(reducedAttribute).length === Object.keys(definition).length) return undefined
  const reducedModel = structuredClone(model)
  reducedModel.dataClasses[dataClass]!.attributes[attribute] = reducedAttribute
  return reducedModel
}

/** A model without a relation to one and the relation that reverses it. */
const withoutRelation = (model: DraftModel, dataClass: string, relation: string): DraftModel =>
  filterModel(model, (owner, name, { kind, type, inverseName }) => {
    const isItself = owner === dataClass && name === relation
    const isReverse = kind === 'relatedEntities' && inverseName === relation
    const collection = model.dataClasses[dataClass]!.collectionName ?? `${dataClass}Selection`
    return !isItself && !(isReverse && (type === dataClass || type === collection))
  })

/** Leaves out aliases that refer to something that was left out. */
function withoutBrokenAliases(model: DraftModel, onNote: (note: string) => void): DraftModel {
  const aliases = Object.entries(model.dataClasses).flatMap(([dataClass, { attributes }]) =>
    Object.entries(attributes).flatMap(([name, attribute]) =>
      attribute.kind === 'alias'
        ? [{ subject: `${dataClass}.${name}`, attributes: [[dataClass, name, attribute] as const] }]
        : [],
    ),
  )
  const base = filterModel(model, (_, __, { kind }) => kind !== 'alias')
  const grown = grow(base, aliases, subject => onNote(`${subject} is left out of the model: its relation is left out`))
  return inOrder(grown, dataClass => Object.keys(model.dataClasses[dataClass]!.attributes))
}

function filterModel(
  model: DraftModel,
  isKept: (dataClass: string, name: string, attribute: DraftAttribute) => boolean,
): DraftModel {
  const dataClasses = Object.entries(model.dataClasses).map(([dataClass, { attributes, ...rest }]) => [
    dataClass,
    {
      ...rest,
      attributes: Object.fromEntries(
        Object.entries(attributes).filter(([name, attribute]) => isKept(dataClass, name, attribute)),
      ),
    },
  ])
  return { ...model, dataClasses: Object.fromEntries(dataClasses) }
}
