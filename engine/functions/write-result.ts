import { encodeMembers } from '../entity-set/members.ts'
import { EntityBase, internals } from '../language/entity.ts'
import { SelectionBase } from '../language/entity-selection.ts'
import { BINDING, type Binding } from '../language/binding.ts'
import type { Output } from '../query/request.ts'
import { DEFAULT_TOP } from '../query/select.ts'
import { bindProjection } from '../query/serialise/bind-projection.ts'
import { SerialiseErrors } from '../query/serialise/serialise-errors.ts'
import { writeArray, writeCollection, writeEntity } from '../query/serialise/write-selection.ts'
import { FunctionErrors } from './function-errors.ts'
import { OutgoingMessage } from './outgoing-message.ts'
import type { FunctionScope } from './run-task.ts'
import type { CallTask, TaskOutcome } from './tasks.ts'

/**
 * What a function has returned, as it is sent. Entities and selections inside other values are plain objects.
 * @throws {FunctionErrors.BAD_RESULT} {@link SerialiseErrors.ANSWER_TOO_LARGE}
 * Source: protocol notes, 7.4.
 */
export function writeResult(result: unknown, task: CallTask, scope: FunctionScope): TaskOutcome {
  if (result instanceof EntityBase) return { body: entityBody(result, task, scope) }
  if (result instanceof SelectionBase) return selectionOutcome(result, task, scope)
  if (result instanceof OutgoingMessage) return { message: result.toAnswer() }
  return { body: limited(`{"result":${toJson(result, task.fullName) ?? 'null'}}`, scope) }
}

function selectionOutcome(selection: SelectionBase, { read, keep }: CallTask, scope: FunctionScope): TaskOutcome {
  const { dataClass } = selection[BINDING]
  const rows = SelectionBase.rowsOf(selection)
  if (keep) return { members: encodeMembers(rows.selection), dataClass: dataClass.name }
  const { skip = 0, top = dataClass.defaultTopSize ?? DEFAULT_TOP, output } = read ?? {}
  const page = { count: rows.total, first: Math.max(0, skip), rowIds: rows.page(Math.max(0, skip), Math.max(0, top)) }
  const form = output?.form === 'array' ? 'array' : 'collection'
  const projection = project(selection[BINDING], { ...output, form }, scope)
  const { snapshot } = scope.language
  const bytes = form === 'array' ? writeArray(page, projection, snapshot) : writeCollection(page, projection, snapshot)
  return { body: bytes.slice() }
}

function entityBody(entity: EntityBase, { read }: CallTask, scope: FunctionScope): Uint8Array | string {
  const rowId = internals.rowId(entity)
  const name = entity[BINDING].dataClass.name
  if (rowId === undefined) return limited(toJson({ __entityModel: name, ...publicObject(entity) }, name)!, scope)
  const projection = project(entity[BINDING], { ...read?.output, form: 'entity' }, scope)
  const bytes = writeEntity({ rowIds: Uint32Array.of(rowId) }, projection, scope.language.snapshot)
  const touched = entity.touchedAttributes()
  if (touched.length === 0) return bytes.slice()
  // As it is in memory now, not as it is stored.
  const shown = JSON.parse(Buffer.from(bytes).toString()) as Record<string, unknown>
  const values = Object.entries(publicObject(entity)).filter(([attribute]) => touched.includes(attribute))
  return limited(toJson({ ...shown, ...Object.fromEntries(values) }, name)!, scope)
}

const project = ({ dataClass }: Binding, output: Output, { language, limits }: FunctionScope) =>
  bindProjection(dataClass, output, language.options.store.layouts, limits)

function toJson(value: unknown, name: string): string | undefined {
  try {
    return JSON.stringify(value, replace)
  } catch (error) {
    throw FunctionErrors.BAD_RESULT(name, (error as Error).message.split('\n')[0]!)
  }
}

function replace(this: Readonly<Record<string, unknown>>, key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
  // `value` is what its `toJSON` gave.
  const original = this[key]
  if (original instanceof EntityBase) return publicObject(original)
  if (original instanceof SelectionBase) return Array.from(original as Iterable<EntityBase>, publicObject)
  return value
}

/** Functions see private attributes, clients do not. */
function publicObject(entity: EntityBase): Record<string, unknown> {
  const { attributesByName } = entity[BINDING].dataClass
  return Object.fromEntries(
    Object.entries(entity.toObject()).filter(([name]) => attributesByName.get(name)?.scope !== 'private'),
  )
}

function limited(text: string, { limits }: FunctionScope): string {
  if (text.length > limits.maxAnswerBytes) throw SerialiseErrors.ANSWER_TOO_LARGE(limits.maxAnswerBytes)
  return text
}
