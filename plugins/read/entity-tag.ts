import { createHash, randomBytes } from 'node:crypto'
import type { Access, DataClass, View } from '../../engine/index.ts'
import type { RestRequest } from '../../kernel/api.ts'

/** Members of every entity, before its attributes. Within a text their quotes would be escaped. */
const TIMESTAMP = Buffer.from('"__TIMESTAMP":')
const STAMP = Buffer.from('"__STAMP":')
/** Bytes in which they are looked for: only a very long key takes more. */
const HEAD_BYTES = 512
/** Digits of a timestamp without its century, which a number holds exactly. */
const DIGITS = 15

/** Part of every tag, and another one at each start, which may bring another model and other plugins. */
const START = randomBytes(9)

/**
 * Entity tag of the answer to a read of one entity, from its `__STAMP` and `__TIMESTAMP` and the rights of the caller.
 * Weak: the same tag stands for compressed bytes.
 * @param json the answer
 * @returns undefined for an answer whose head cannot be read
 */
export function entityTag(json: Uint8Array, access: Access | undefined): string | undefined {
  // A regular expression takes 1 µs here, a twelfth of the time of such a request. This takes 0.2.
  const timestamp = behind(json, TIMESTAMP)
  const stamp = behind(json, STAMP)
  if (timestamp === undefined || stamp === undefined) return undefined
  let time = 0
  for (let at = timestamp + CENTURY, digits = 0; digits < DIGITS && at < stamp; at++) {
    if (!isDigit(json[at])) continue
    time = time * 10 + json[at]! - ZERO
    digits++
  }
  let version = 0
  for (let at = stamp; isDigit(json[at]); at++) version = version * 10 + json[at]! - ZERO
  return `W/"${version}-${time}-${rightsOf(access)}"`
}

const ZERO = 0x30
const SPACE = 0x20
/** The quote and the first two digits. */
const CENTURY = 3
const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= ZERO && byte < ZERO + 10

/** Position of the value of a member in the head. */
function behind(json: Uint8Array, member: Uint8Array): number | undefined {
  const end = Math.min(json.length, HEAD_BYTES) - member.length
  for (let at = 0; at < end; at++) {
    let same = 0
    while (same < member.length && json[at + same] === member[same]) same++
    if (same < member.length) continue
    at += same
    return json[at] === SPACE ? at + 1 : at
  }
  return undefined
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
