import type { ErrorObject } from 'ajv'
import type { View } from '../../catalog/view.ts'
import type { JsonSchema } from '../../base/json-schema.ts'
import { suggestion } from '../../base/suggestion.ts'
import type { ClassFunction } from '../declare/class-registry.ts'
import { compileSchema } from '../declare/compile-schema.ts'
import { FunctionErrors } from '../declare/function-errors.ts'
import { alternativesOf, ENTITY_OF, SELECTION_OF } from '../declare/signature.ts'
import { expectationOf, describeValue } from './expectation.ts'
import type { CallTask } from './tasks.ts'

/**
 * Checks the arguments of a call, as they were sent, against the declared parameters of its function.
 * @param view determines the dataclasses that messages may name
 * @returns the arguments, with undefined in place of an optional one that is null
 * @throws {FunctionErrors.WRONG_ARGUMENT} {@link FunctionErrors.SURPLUS_ARGUMENTS}
 */
export function checkArguments(
  { fullName, parameters }: Pick<ClassFunction, 'fullName' | 'parameters'>,
  values: readonly unknown[],
  sets: CallTask['sets'],
  view: View,
): readonly unknown[] {
  if (!parameters) return values
  if (values.length > parameters.length) {
    const names = parameters.map(({ name }) => name)
    throw FunctionErrors.SURPLUS_ARGUMENTS(fullName, names.join(', ').slice(0, 200), values.length)
  }
  const isShown = (name: string): boolean => view.find(name) !== undefined
  const args = values.map((value, i) => {
    const { name, schema, isOptional } = parameters[i]!
    const validate = compileSchema(schema)
    const isValid = validate(value) && isOfClass(value, schema, sets)
    if (isValid) return value
    if (isOptional && value === null) return undefined
    const { at, problem } = explain(validate.errors?.at(-1), schema, value, isShown)
    throw FunctionErrors.WRONG_ARGUMENT(fullName, i + 1, `${name}${at}`, problem)
  })
  const next = parameters[values.length]
  if (next && !next.isOptional) {
    throw FunctionErrors.WRONG_ARGUMENT(fullName, values.length + 1, next.name, describeMissing(next.schema, isShown))
  }
  return args
}

/** True if an entity set has the declared dataclass, which a schema cannot check. Unknown sets are refused when they are opened. */
function isOfClass(value: unknown, schema: JsonSchema, sets: CallTask['sets']): boolean {
  const id = (value as { __DATASET?: string } | null)?.__DATASET
  const set = typeof id === 'string' ? sets?.get(id) : undefined
  const names = set ? alternativesOf(schema).flatMap(each => each[SELECTION_OF] ?? []) : []
  return names.length === 0 || names.includes(set!.dataClass)
}

type IsShown = (dataClass: string) => boolean

/** @param error the last error, which for alternatives covers all of them; undefined: an entity set of another dataclass */
function explain(
  error: ErrorObject | undefined,
  schema: JsonSchema,
  value: unknown,
  isShown: IsShown,
): { at: string; problem: string } {
  // An entity or a selection is described as a whole.
  if (!error || alternativesOf(schema).some(each => ENTITY_OF in each || SELECTION_OF in each)) {
    return { at: '', problem: wrong(schema, value, isShown) }
  }
  const at = pathOf(error.instancePath)
  const parent = (error.parentSchema ?? {}) as { readonly properties?: Readonly<Record<string, JsonSchema>> }
  switch (error.keyword) {
    case 'required': {
      const name = String(error.params.missingProperty)
      return { at: `${at}${step(name)}`, problem: describeMissing(parent.properties?.[name] ?? {}, isShown) }
    }
    case 'additionalProperties':
    case 'unevaluatedProperties': {
      const name = String(error.params.additionalProperty ?? error.params.unevaluatedProperty)
      const names = Object.keys(parent.properties ?? {})
      return {
        at: `${at}${step(name)}`,
        problem: `is not one of its properties${suggestion(name.slice(0, 100), names)}`,
      }
    }
    default:
      return { at, problem: wrong(parent, error.data, isShown) }
  }
}

const wrong = (schema: JsonSchema, value: unknown, isShown: IsShown): string =>
  `has to be ${expectationOf(schema, isShown)}; received ${describeValue(value)}`

const describeMissing = (schema: JsonSchema, isShown: IsShown): string =>
  `is missing; it has to be ${expectationOf(schema, isShown)}`

const MAX_PATH = 100

/** Path of a JSON pointer, shortened: names of properties may come from the client. */
function pathOf(pointer: string): string {
  const steps = pointer.split('/', 20).slice(1)
  const path = steps.map(each => step(each.replaceAll('~1', '/').replaceAll('~0', '~'))).join('')
  return path.length > MAX_PATH ? `${path.slice(0, MAX_PATH)}…` : path
}

function step(name: string): string {
  if (/^\d+$/.test(name)) return `[${name}]`
  const isName = name.length <= MAX_PATH && /^[\p{ID_Start}_$][\p{ID_Continue}$]*$/u.test(name)
  return isName ? `.${name}` : `[${JSON.stringify(name.slice(0, MAX_PATH))}]`
}
