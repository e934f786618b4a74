import type { JsonSchema } from '../../base/json-schema.ts'
import { suggestion } from '../../base/suggestion.ts'
import { whereOf } from './check-declarations.ts'
import { compileSchema, FORMATS } from './compile-schema.ts'
import type { ClassDescriptor } from './describe-classes.ts'
import { ENTITY_OF, type FunctionSignature, SELECTION_OF } from './signature.ts'

/** Names of all dataclasses; undefined: unknown. */
type Names = readonly string[] | undefined

/** Reasons why declared parameters and results cannot be used, a sentence each: plugin, file and line, what was found. */
export function signatureProblems(classes: readonly ClassDescriptor[], dataClasses: Names): string[] {
  return classes.flatMap(descriptor =>
    descriptor.members.flatMap(member => {
      if (member.kind !== 'function') return []
      const where = `${whereOf(member, descriptor)}: ${member.className ?? descriptor.name}.${member.name}`
      return problemsOf(member, dataClasses).map(problem => `${where}: ${problem}`)
    }),
  )
}

function problemsOf({ parameters = [], result }: FunctionSignature, dataClasses: Names): string[] {
  const problems: string[] = []
  const names = parameters.map(({ name }) => name)
  for (const [i, { name, schema, isOptional }] of parameters.entries()) {
    const where = `parameter ${i + 1}${name === '' ? '' : `, "${name}"`}`
    if (!NAME.test(name)) problems.push(`${where}: ${NAMELESS}`)
    else if (names.indexOf(name) < i) problems.push(`${where}: parameter ${names.indexOf(name) + 1} has this name too`)
    if (!isOptional && parameters[i - 1]?.isOptional) {
      problems.push(`${where}: it is needed, and comes after one that is optional`)
    }
    problems.push(...schemaProblems(schema, dataClasses).map(problem => `${where}: ${problem}`))
  }
  return result ? [...problems, ...schemaProblems(result, dataClasses).map(problem => `result: ${problem}`)] : problems
}

const NAME = /^[\p{ID_Start}_$][\p{ID_Continue}$]*$/u
const NAMELESS = 'its schema has to name it by a title that is an identifier, as Type.String({ title: "name" })'

/** Types of TypeBox that JSON does not have, each with an alternative. */
const NOT_JSON: Readonly<Record<string, string>> = {
  Date: 'a date is a text in JSON; use Type.String({ format: "date-time" })',
  bigint: 'JSON has no such integers; use Type.Integer() or Type.String()',
  Uint8Array: 'JSON has no bytes; use a text, or an upload',
}

function schemaProblems(schema: JsonSchema, dataClasses: Names): string[] {
  const problems: string[] = []
  const visit = (value: unknown, isTop: boolean): void => {
    if (typeof value !== 'object' || value === null) return
    if (Array.isArray(value)) for (const each of value) visit(each, false)
    else visitObject(value as JsonSchema, isTop)
  }
  const visitObject = (part: JsonSchema, isTop: boolean): void => {
    const { type } = part
    if (typeof type === 'string' && Object.hasOwn(NOT_JSON, type)) problems.push(NOT_JSON[type]!)
    if (typeof part.$ref === 'string' || typeof part.$id === 'string') {
      problems.push('a schema that refers to itself or to another one is not supported')
    }
    const name = dataClassOf(part)
    if (typeof name === 'string' && dataClasses?.includes(name) === false) {
      problems.push(`there is no dataclass "${name}"${suggestion(name, dataClasses)}`)
    } else if (name !== undefined && !isTop) {
      problems.push(`an entity or a selection of ${String(name)} cannot be inside of another value`)
    }
    // A nullable entity or selection is a union at the top level.
    const { anyOf, ...others } = part
    for (const each of Array.isArray(anyOf) ? anyOf : []) visit(each, isTop)
    for (const each of Object.values(others)) visit(each, false)
  }
  visit(schema, true)
  if (problems.length > 0) return [...new Set(problems)]
  try {
    compileSchema(schema)
    return []
  } catch (error) {
    const { message } = error as Error
    const hint = message.includes('unknown format') ? `; the formats are ${FORMATS.join(', ')}` : ''
    return [`its schema cannot be used: ${message}${hint}`]
  }
}

const dataClassOf = (schema: JsonSchema): unknown => schema[ENTITY_OF] ?? schema[SELECTION_OF]
