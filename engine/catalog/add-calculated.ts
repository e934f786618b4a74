import { suggestion } from '../base/suggestion.ts'
import { ModelError } from './model-error.ts'
import type { CalculatedModel } from './model-schema.ts'
import { type ParameterOptions, parameterOptions } from './types/parameters.ts'

/** A calculated attribute as the class of a plugin declares it. */
export interface CalculatedDeclaration extends ParameterOptions {
  readonly dataClass: string
  readonly name: string
  readonly type: CalculatedModel['type']
  readonly stored?: boolean | undefined
  readonly indexed?: boolean | undefined
  /** True if clients can see it. */
  readonly exposed: boolean
  readonly settable: boolean
  readonly unrestricted?: boolean | undefined
  /** Fingerprint that changes with the code. */
  readonly fingerprint: string
}

/**
 * Adds the calculated attributes that plugin classes declare to a model: attributes that the model names get their code, others
 * are appended. Other faults of the model are not checked here.
 * @throws {ModelError} for a declaration that contradicts the model
 * Source: protocol notes, 3.8.
 */
export function addCalculated(model: unknown, declarations: readonly CalculatedDeclaration[]): unknown {
  if (declarations.length === 0 || !isObject(model) || !isObject(model.dataClasses)) return model
  const problems: string[] = []
  const dataClasses = { ...model.dataClasses }
  for (const declaration of declarations) {
    const { dataClass: className, name } = declaration
    const path = `dataClasses.${className}.attributes.${name}`
    if (!Object.hasOwn(dataClasses, className)) {
      problems.push(
        `${path}: a plugin calculates it, but there is no such dataclass${suggestion(className, Object.keys(dataClasses))}`,
      )
      continue
    }
    const dataClass = dataClasses[className]
    if (!isObject(dataClass) || !isObject(dataClass.attributes)) continue
    const inFile = Object.hasOwn(dataClass.attributes, name) ? dataClass.attributes[name] : undefined
    if (inFile !== undefined && !isObject(inFile)) continue
    const problem = contradiction(declaration, inFile)
    if (problem) problems.push(`${path}: ${problem}`)
    else {
      const attributes = {
        ...dataClass.attributes,
        [name]: { ...modelOf(declaration), ...inFile, ...codeOf(declaration) },
      }
      dataClasses[className] = { ...dataClass, attributes }
    }
  }
  if (problems.length > 0) throw new ModelError(problems)
  return { ...model, dataClasses }
}

function modelOf(declaration: CalculatedDeclaration): CalculatedModel {
  const { type, stored, indexed, exposed } = declaration
  return {
    kind: 'calculated',
    type,
    scope: exposed ? 'public' : 'private',
    ...parameterOptions(declaration),
    ...(stored && { stored }),
    ...(indexed && { indexed }),
  }
}

const codeOf = ({
  settable,
  fingerprint,
  unrestricted,
}: CalculatedDeclaration): Required<Pick<CalculatedModel, 'code'>> => ({
  code: { settable, fingerprint, ...(unrestricted && { unrestricted }) },
})

function contradiction(
  declaration: CalculatedDeclaration,
  inFile: Record<string, unknown> | undefined,
): string | undefined {
  if (!inFile) return undefined
  if (inFile.kind !== 'calculated') {
    return `a plugin calculates it, but the model says that it is a ${inFile.kind ?? 'storage'} attribute`
  }
  if (inFile.code) return 'its code is declared more than once'
  return inFile.type === declaration.type
    ? undefined
    : `a plugin calculates it with type ${declaration.type}, but the model says type ${inFile.type}`
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
