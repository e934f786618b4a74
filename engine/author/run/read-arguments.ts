import { sourceOf } from '../../entity-set/entity-set.ts'
import { decodeMembers } from '../../entity-set/members.ts'
import type { View } from '../../catalog/view.ts'
import { ProtocolError } from '../../base/errors.ts'
import { parseJsonBody } from '../../base/json-body.ts'
import type { JsonBounds } from '../../base/json-bounds.ts'
import type { JsonSchema } from '../../base/json-schema.ts'
import type { Binding } from '../data-api/binding.ts'
import { internals } from '../data-api/entity-internals.ts'
import type { CodeSession } from '../data-api/code-session.ts'
import { finderOf } from '../../query/source/select.ts'
import type { ClassFunction } from '../declare/class-registry.ts'
import { FunctionErrors } from '../declare/function-errors.ts'
import { alternativesOf } from '../declare/signature.ts'
import type { CallTask } from './tasks.ts'

type JsonObject = Readonly<Record<string, unknown>>

/** Maximum number of arguments: far more would overflow the stack of a call, and no function needs them. */
const MAX_ARGUMENTS = 1_000

/**
 * Parses the arguments of a call: the elements of a JSON array, or of the array `params` of an object; any other value is the only argument.
 * No plugin code has run at this point: invalid or too expensive arguments are the client's fault.
 * @param parameters that the function declares
 * @throws {EngineErrors.BAD_JSON} {@link EngineErrors.TOO_DEEP} {@link EngineErrors.TOO_MANY_VALUES}
 * @throws {FunctionErrors.TOO_MANY_ARGUMENTS}
 * Source: protocol notes, 7.2.
 */
export function parseArguments(
  { args }: CallTask,
  bounds: JsonBounds,
  parameters: ClassFunction['parameters'],
): readonly unknown[] {
  const bytes = typeof args === 'string' ? Buffer.from(args, 'latin1') : args
  const json = bytes && parseJsonBody(bytes, bounds)
  if (json === undefined) return []
  const list = listOf(json, parameters?.[0]?.schema)
  if (list.length > MAX_ARGUMENTS) throw FunctionErrors.TOO_MANY_ARGUMENTS(list.length, MAX_ARGUMENTS)
  return list
}

/**
 * Converts arguments that stand for entities and selections. Runs plugin code: events of entities.
 * @throws {FunctionErrors.BAD_ARGUMENT} {@link FunctionErrors.NO_ENTITY}
 * Source: protocol notes, 7.3.
 */
export function convertArguments(
  values: readonly unknown[],
  { sets, access, job }: CallTask,
  codeSession: CodeSession,
): unknown[] {
  return values.map((value, i) => {
    if (!isObject(value)) return value
    // Arguments of a job may come from clients, and are not converted to entities or selections.
    if (job) return job.entities?.includes(i) ? findEntity(value, codeSession) : value
    if (value.__ENTITY === true) return toEntity(value, i + 1, codeSession.views.of(access), codeSession)
    if (typeof value.__DATASET === 'string') return toSelection(value.__DATASET, i + 1, { sets, access }, codeSession)
    return value
  })
}

/** @param first schema of the first parameter, if the function declares it */
function listOf(json: unknown, first: JsonSchema = {}): readonly unknown[] {
  if (Array.isArray(json)) return json
  // The data explorer of 4D sends other members with the arguments. An entity may have an attribute of that name.
  const isList = isObject(json) && Array.isArray(json.params) && json.__ENTITY !== true && !hasParams(first)
  return isList ? (json.params as unknown[]) : [json]
}

const hasParams = (schema: JsonSchema): boolean =>
  alternativesOf(schema).some(({ properties }) => isObject(properties) && Object.hasOwn(properties, 'params'))

/** Selection of an entity set, which the kernel thread has looked up. */
function toSelection(
  id: string,
  position: number,
  { sets, access }: Pick<CallTask, 'sets' | 'access'>,
  codeSession: CodeSession,
): object {
  const set = sets?.get(id)
  if (!set) throw FunctionErrors.BAD_ARGUMENT(position, 'a selection is given by "__DATASET", the id of an entity set')
  const binding = codeSession.binding(set.dataClass)
  const source = sourceOf(decodeMembers(set.members))
  const { views } = codeSession
  const { context } = codeSession.snapshots
  const request = { dataClass: set.dataClass, source }
  return binding.selection(finderOf(binding.dataClass, context).source(request, views.of(access), context)!)
}

/** The entity that a job was enqueued with; null if it has been deleted since. */
function findEntity({ __DATACLASS: name, __KEY: key }: JsonObject, codeSession: CodeSession): object | null {
  return codeSession.binding(String(name)).instance.get(key)
}

/** An existing or a new entity with the given values assigned. Nothing is saved; a given stamp is checked by a later save. */
function toEntity(object: JsonObject, position: number, view: View, codeSession: CodeSession): object {
  const binding = shownBinding(object.__DATACLASS, position, view, codeSession)
  const key = object.__KEY
  if (key !== undefined && key !== null && typeof key !== 'string' && typeof key !== 'number') {
    throw FunctionErrors.BAD_ARGUMENT(position, '"__KEY" is a text or a number')
  }
  const isNew = key === undefined || key === null
  const entity = isNew ? binding.instance.new() : binding.instance.get(key)
  if (!entity) throw FunctionErrors.NO_ENTITY(position, binding.dataClass.name, String(key).slice(0, 100))
  const stamp = object.__STAMP
  if (!isNew && stamp !== undefined) {
    if (!Number.isInteger(stamp)) throw FunctionErrors.BAD_ARGUMENT(position, '"__STAMP" is an integer')
    internals.seenAt(entity, stamp as number)
  }
  try {
    entity.fromObject(shownValues(object, position, view, binding))
  } catch (error) {
    // The client sent an invalid value.
    if (error instanceof ProtocolError) throw new ProtocolError({ ...error.toData(), httpStatus: 400 })
    throw error
  }
  return entity
}

function shownBinding(name: unknown, position: number, view: View, codeSession: CodeSession): Binding {
  const dataClass = typeof name === 'string' ? codeSession.catalog.dataClassesByName.get(name) : undefined
  if (!dataClass || !view.shows(dataClass)) {
    throw FunctionErrors.BAD_ARGUMENT(position, 'an entity names its dataclass in "__DATACLASS"')
  }
  return codeSession.binding(dataClass.name)
}

/** The given values, without metadata. Checked against the caller's view, because functions may see more than their callers. */
function shownValues(object: JsonObject, position: number, view: View, { dataClass }: Binding): JsonObject {
  const values = Object.entries(object).filter(([name]) => !name.startsWith('__') && name !== 'uri')
  for (const [name] of values) {
    if (!view.attribute(dataClass, name)) {
      throw FunctionErrors.BAD_ARGUMENT(position, `${dataClass.name} has no attribute "${name.slice(0, 100)}"`)
    }
  }
  return Object.fromEntries(values)
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
