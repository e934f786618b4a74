import { createHash, randomBytes } from 'node:crypto'
import type { Access, DataClass, View } from '../../engine/index.ts'
import type { RestRequest } from '../../kernel/api.ts'

/** Members of every entity before its attributes: its version, and when that was made. */
const HEAD =
  /^\{\s*"__entityModel":\s*"[^"]*",\s*"__KEY":\s*"(?:[^"\\]|\\.)*",\s*"__TIMESTAMP":\s*"([^"]+)",\s*"__STAMP":\s*(\d+)/
/** The head of an entity is shorter, unless its key is very long. */
const HEAD_BYTES = 512

/** Part of every tag, and another one at each start, which may bring another model and other plugins. */
const START = randomBytes(9)

/**
 * Entity tag of the answer to a read of one entity, from its `__STAMP` and `__TIMESTAMP` and the rights of the caller.
 * Weak: the same tag stands for compressed bytes.
 * @param json the answer
 * @returns undefined for an answer whose head cannot be read
 */
export function entityTag(json: Uint8Array, access: Access | undefined): string | undefined {
  const head = Buffer.from(json.buffer, json.byteOffset, Math.min(json.byteLength, HEAD_BYTES)).toString('latin1')
  const [, timestamp, stamp] = HEAD.exec(head) ?? []
  return timestamp && `W/"${stamp}-${Date.parse(timestamp).toString(36)}-${rightsOf(access)}"`
}

/** Whether a read shows one entity and nothing that can change without it: no other entities, nothing that is calculated. */
export function showsOwnValues({ read, dataClass, view }: RestRequest): boolean {
  const { form, attributes, expand } = read.output
  if (form !== 'entity' || expand || !dataClass) return false
  if (!attributes) return hasOwnValues(view, dataClass)
  return attributes.items.every(({ path }) => path.length === 1 && isOwn(view, dataClass, path[0]!))
}

const isOwn = (view: View, dataClass: DataClass, name: string): boolean => {
  const kind = view.attribute(dataClass, name)?.kind
  return kind !== undefined && kind !== 'calculated' && kind !== 'alias'
}

/** Whether all attributes of a dataclass are such, by view. */
const known = new WeakMap<View, Map<DataClass, boolean>>()

function hasOwnValues(view: View, dataClass: DataClass): boolean {
  const ofView = known.get(view) ?? new Map<DataClass, boolean>()
  known.set(view, ofView)
  const own = ofView.get(dataClass) ?? view.attributes(dataClass).every(({ name }) => isOwn(view, dataClass, name))
  ofView.set(dataClass, own)
  return own
}

const rights = new WeakMap<Access, string>()
const UNRESTRICTED = digest('')

function rightsOf(access: Access | undefined): string {
  if (!access) return UNRESTRICTED
  const found = rights.get(access) ?? digest(`${access.version} ${access.privileges}`)
  rights.set(access, found)
  return found
}

function digest(text: string): string {
  return createHash('sha256').update(START).update(text).digest('base64url').slice(0, 6)
}
