import { EngineErrors } from '../engine-errors.ts'
import { isDeeper } from '../json-depth.ts'
import { EntityBase } from '../language/entity.ts'
import type { Language } from '../language/language.ts'
import { isJsonObject, parseBody } from '../write/parse-body.ts'
import { own } from '../write/read-element.ts'
import type { SavedEntity, SaveRequest, SaveResult } from '../write/requests.ts'
import type { Hooks } from './hooks.ts'
import { type Prepared, prepareElement } from './prepare-element.ts'

/** Entities of one request to the writer: others get in between. */
const SLICE = 500
/** Levels of a body of several such requests; an attribute may have 100. */
const MAX_DEPTH = 200

/**
 * Saves the body of a client with the code of its dataclass around it. The writer gets the body as it came, so that it
 * tells what is wrong with it as always, and what code has made of each element.
 * @param answer what is calculated of entities that are not saved is of their new values in it
 * @throws what the body has against it as a whole; what code throws
 * Source: base specification 4.4; protocol notes 5 and 9.
 */
export function saveElements<Answer>(
  request: SaveRequest,
  language: Language,
  hooks: Hooks,
  answer: (saved: SaveResult) => Answer,
): Answer {
  const binding = language.binding(request.dataClass)
  const { elements, many } = parseBody(request.body, binding.dataClass)
  const { trusted = false } = request
  const context = { trusted, view: language.views.of(request.access, trusted ? 'code' : 'client'), binding, hooks }
  const { mode, atomic } = request
  const entities: SavedEntity[] = []
  const fine: EntityBase[] = []
  let globalStamp = 0
  const slices = mode === 'update' ? sliced(elements, atomic ? Number.POSITIVE_INFINITY : SLICE) : [elements]
  // Written anew for the writer, which takes a recursion. Before anything is saved.
  if (slices.length > 1 && isDeeper(elements, MAX_DEPTH)) throw EngineErrors.TOO_DEEP(MAX_DEPTH)
  const writing: Writing = {
    language,
    prepare(slice) {
      const body = slice.length === elements.length ? request.body : Buffer.from(JSON.stringify(slice))
      return { body, elements: slice.map(element => prepareElement(element, context)) }
    },
    save: ({ body, elements }, mode) =>
      language.save({ ...request, mode, body, hooked: elements.map(({ hooked }) => hooked) }),
  }
  for (const group of atomic ? [slices] : slices.map(slice => [slice])) {
    const done = group.length > 1 ? saveTogether(group, writing) : [saveSlice(group[0]!, mode, writing)]
    globalStamp = done.at(-1)!.result.globalStamp
    const saved = done.flatMap(({ result }) => result.entities)
    // Of an atomic request: then none of its entities has been saved.
    const common = atomic ? saved.find(({ failure }) => failure)?.failure : undefined
    for (const [i, { entity }] of done.flatMap(({ slice }) => slice.elements).entries()) {
      const { failure = common, rowId, row } = saved[i]!
      entities.push(saved[i]!)
      if (!entity) continue
      if (!saved[i]!.failure) fine.push(entity)
      if (mode !== 'update') continue
      if (!failure) EntityBase.saved(entity, rowId!, row!)
      hooks.afterSave(entity, failure)
    }
  }
  // Their new values are shown and not kept. Source: protocol notes, 5.5 and 5.7.
  const isPreview = mode === 'refresh' || (atomic && entities.some(({ failure }) => failure))
  return hooks.showing(isPreview ? fine : [], () => answer({ kind: 'save', many, entities, globalStamp }))
}

/** Elements that are sent to the writer at once. */
interface Slice {
  readonly body: Uint8Array
  readonly elements: readonly Prepared[]
}

interface SavedSlice {
  readonly slice: Slice
  readonly result: SaveResult
}

interface Writing {
  readonly language: Language
  /** Runs the code that comes before a save. */
  prepare(elements: readonly unknown[]): Slice
  save(slice: Slice, mode: SaveRequest['mode']): SaveResult
}

function saveSlice(elements: readonly unknown[], mode: SaveRequest['mode'], { prepare, save }: Writing): SavedSlice {
  const slice = prepare(elements)
  return { slice, result: save(slice, mode) }
}

/** All of several slices or nothing; each sees what those before it have written. */
function saveTogether(slices: readonly (readonly unknown[])[], writing: Writing): SavedSlice[] {
  const { language, save } = writing
  const saved: SavedSlice[] = []
  const isKept = language.transaction(() => {
    for (const elements of slices) saved.push(saveSlice(elements, 'update', writing))
    return !saved.some(({ result }) => result.entities.some(({ failure }) => failure))
  })
  if (isKept) return saved
  // Those without a fault of their own are shown with their new values and the old stamp (protocol notes, 5.5).
  const shown: SavedSlice[] = []
  language.transaction(() => {
    for (const { slice, result } of saved) {
      const { entities, ...rest } = save(slice, 'refresh')
      // What failed then has failed, though somebody may have removed the reason meanwhile.
      const told = entities.map((entity, i) => (result.entities[i]!.failure ? result.entities[i]! : entity))
      shown.push({ slice, result: { ...rest, entities: told } })
      save(slice, 'update')
    }
    return false
  })
  return shown
}

/** An entity that comes twice is seen the second time as the first has left it. @param size most of one slice */
function sliced(elements: readonly unknown[], size: number): unknown[][] {
  const found: unknown[][] = [[]]
  let keys = new Set<string>()
  for (const element of elements) {
    const sent = isJsonObject(element) ? own(element, '__KEY') : undefined
    // An object is no key, and to make a text of one may take a recursion.
    const key = sent === undefined || typeof sent === 'object' ? undefined : String(sent)
    if (found.at(-1)!.length === size || (key !== undefined && keys.has(key))) {
      found.push([])
      keys = new Set()
    }
    if (key !== undefined) keys.add(key)
    found.at(-1)!.push(element)
  }
  return found
}
