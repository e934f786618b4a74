import type { View } from '../../catalog/view.ts'
import { finderOf } from '../../query/source/select.ts'
import { encodeMembers } from '../../entity-set/members.ts'
import { EntityBase } from '../data-api/entity.ts'
import { internals } from '../data-api/entity-internals.ts'
import { SelectionBase } from '../data-api/entity-selection.ts'
import { BINDING, type Binding } from '../data-api/binding.ts'
import type { Output } from '../../query/contract/request.ts'
import { defaultTop } from '../../catalog/dataclass.ts'
import { bindProjection } from '../../query/serialise/bind-projection.ts'
import { SerialiseErrors } from '../../answer/serialise-errors.ts'
import { writeArray, writeCollection, writeEntity } from '../../query/serialise/write-selection.ts'
import { PermissionErrors } from '../../permission/permission-errors.ts'
import { FunctionErrors } from '../declare/function-errors.ts'
import { asCode } from '../declare/running-code.ts'
import { OutgoingMessage } from '../data-api/outgoing-message.ts'
import type { CodeSession } from '../data-api/code-session.ts'
import type { Streaming } from './result-stream.ts'
import type { CallTask, TaskOutcome } from './tasks.ts'
import { writeGenerator, writeMessageStream } from './write-stream.ts'
import { isGenerator } from '../data-api/governed-generator.ts'

/**
 * Writes the result of a function; the result of a job is dropped. Entities and selections inside other values are plain objects.
 * @throws {FunctionErrors.BAD_RESULT} {@link SerialiseErrors.ANSWER_TOO_LARGE} Source: protocol notes, 7.4.
 */
export function writeResult(result: unknown, task: CallTask, codeSession: CodeSession): TaskOutcome | Streaming {
  if (task.job) return { body: '' }
  if (isGenerator(result))
    return writeGenerator(result, task, (value, ofLines) => valueJson(value, ofLines, codeSession))
  if (result instanceof EntityBase) return { body: entityBody(result, task, codeSession) }
  if (result instanceof SelectionBase) return selectionOutcome(result, task, codeSession)
  if (result instanceof OutgoingMessage) return writeMessageStream(result, task) ?? { message: result.toAnswer() }
  const json = asCode(() => toJson(result, task.fullName, codeSession.views.of(task.access)))
  return { body: limitText(`{"result":${json ?? 'null'}}`, codeSession) }
}

/**
 * JSON of one value of a stream, on one line.
 * @throws {FunctionErrors.BAD_RESULT} {@link SerialiseErrors.ANSWER_TOO_LARGE}
 */
function valueJson(value: unknown, task: CallTask, codeSession: CodeSession): string {
  if (value instanceof EntityBase) return textOf(entityBody(value, task, codeSession))
  if (value instanceof SelectionBase)
    return textOf(selectionBody(SelectionBase.withoutDeleted(value), task, codeSession))
  if (value instanceof OutgoingMessage || isGenerator(value)) {
    throw FunctionErrors.BAD_RESULT(task.fullName, 'a value of a generator is neither a message nor a generator')
  }
  return limitText(asCode(() => toJson(value, task.fullName, codeSession.views.of(task.access))) ?? 'null', codeSession)
}

const textOf = (body: Uint8Array | string): string => (typeof body === 'string' ? body : Buffer.from(body).toString())

function selectionOutcome(selection: SelectionBase, task: CallTask, codeSession: CodeSession): TaskOutcome {
  const { dataClass } = selection[BINDING]
  if (!task.keep) return { body: selectionBody(selection, task, codeSession) }
  const rows = SelectionBase.rowsOf(selection)
  const { options } = codeSession
  const { context } = codeSession.snapshots
  const members = finderOf(dataClass, context).lasting(rows, dataClass, context, options.store.layouts)
  return { members: encodeMembers(members), dataClass: dataClass.name }
}

function selectionBody(selection: SelectionBase, task: CallTask, codeSession: CodeSession): Uint8Array {
  const { read } = task
  const { dataClass } = selection[BINDING]
  const rows = SelectionBase.rowsOf(selection)
  const { skip = 0, top = defaultTop(dataClass), output } = read ?? {}
  const first = Math.max(0, skip)
  const page = { count: selection.length, first, rowIds: rows.page(first, Math.max(0, top)) }
  const form = output?.form === 'array' ? 'array' : 'collection'
  const projection = project(selection[BINDING], { ...output, form }, task, codeSession)
  const { current: snapshot } = codeSession.snapshots
  const bytes = form === 'array' ? writeArray(page, projection, snapshot) : writeCollection(page, projection, snapshot)
  return bytes.slice()
}

function entityBody(entity: EntityBase, task: CallTask, codeSession: CodeSession): Uint8Array | string {
  const { read } = task
  const view = codeSession.views.of(task.access)
  const rowId = internals.rowId(entity)
  const name = entity[BINDING].dataClass.name
  if (rowId === undefined)
    return limitText(toJson({ __entityModel: name, ...publicObject(entity, view) }, name, view)!, codeSession)
  const projection = project(entity[BINDING], { ...read?.output, form: 'entity' }, task, codeSession)
  const bytes = writeEntity(rowId, projection, codeSession.snapshots.current)
  const touchedNames = entity.touchedAttributes()
  if (touchedNames.length === 0) return bytes.slice()
  // Touched attributes are shown with their values in memory, not the stored ones.
  const storedValues = JSON.parse(Buffer.from(bytes).toString()) as Record<string, unknown>
  const values = Object.entries(publicObject(entity, view)).filter(([attribute]) => touchedNames.includes(attribute))
  return limitText(toJson({ ...storedValues, ...Object.fromEntries(values) }, name, view)!, codeSession)
}

/** @throws {PermissionErrors.READ} the caller may not read it, even if the function may */
function project({ dataClass }: Binding, output: Output, { access }: CallTask, codeSession: CodeSession) {
  const view = codeSession.views.of(access)
  if (!view.shows(dataClass) && access) throw PermissionErrors.READ()
  return bindProjection(dataClass, output, view, codeSession.options.store.layouts, codeSession.limits)
}

function toJson(value: unknown, name: string, view: View): string | undefined {
  try {
    return JSON.stringify(value, replacer(name, view))
  } catch (error) {
    if (!String((error as Error)?.message).startsWith('Converting circular structure')) throw error
    throw FunctionErrors.BAD_RESULT(name, 'it contains itself')
  }
}

const replacer = (name: string, view: View) =>
  function (this: Readonly<Record<string, unknown>>, key: string, value: unknown): unknown {
    if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
    // A promise would be sent as {}.
    if (value instanceof Promise) throw FunctionErrors.BAD_RESULT(name, `"${key.slice(0, 100)}" is a promise; await it`)
    // `value` is the result of `toJSON`.
    const original = this[key]
    if (original instanceof EntityBase) return publicObject(original, view)
    if (original instanceof SelectionBase) {
      return Array.from(original as Iterable<EntityBase>, entity => publicObject(entity, view))
    }
    return value
  }

/** Object without attributes that the caller may not see, though the function may. Other properties of the plugin class stay. */
function publicObject(entity: EntityBase, view: View): Record<string, unknown> {
  const { dataClass } = entity[BINDING]
  const isShown = (name: string): boolean =>
    !dataClass.attributesByName.has(name) || view.attribute(dataClass, name) !== undefined
  return Object.fromEntries(Object.entries(entity.toObject()).filter(([name]) => isShown(name)))
}

function limitText(text: string, { limits }: CodeSession): string {
  if (text.length > limits.maxAnswerBytes) throw SerialiseErrors.ANSWER_TOO_LARGE(limits.maxAnswerBytes)
  return text
}
