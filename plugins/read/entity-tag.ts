import { createHash, randomBytes } from 'node:crypto'
import { type Access, type DataClass, versionOf, type View } from '../../engine/index.ts'
import type { RestRequest } from '../../kernel/api.ts'

/** First member of every entity. It cannot occur within a text, where its quotes would be escaped. */
const KEY = Buffer.from('"__KEY":')
const K = 0x4b
const K_POSITION = KEY.indexOf(K)
/** Number of bytes that are searched for the key, which follows the name of the dataclass. */
const HEAD_BYTES = 512

/** Part of every tag; changes at each start, which may bring another model and other plugins. */
const START = randomBytes(9)

/**
 * Entity tag of the answer to a read of one entity, from its version and the rights of the caller. Weak: the same tag is used for
 * compressed bytes.
 * @param json the answer
 * @returns undefined for an answer whose head cannot be read
 */
export function entityTag(json: Uint8Array, access: Access | undefined): string | undefined {
  const start = keyStart(json)
  return start === undefined ? undefined : `W/"${versionOf(json, start)}-${rightsOf(access)}"`
}

/** Position of `"__KEY":` in the head; undefined if the head lacks it. A call of native code would take longer. */
function keyStart(json: Uint8Array): number | undefined {
  const last = Math.min(json.length, HEAD_BYTES) - KEY.length
  for (let start = 0; start <= last; start++) {
    // The rarest byte of the name first.
    if (json[start + K_POSITION] !== K) continue
    let same = 0
    while (same < KEY.length && json[start + same] === KEY[same]) same++
    if (same === KEY.length) return start
  }
  return undefined
}

/** Returns true if a read shows one entity and only values that change with its version: no related entities, no calculated values. */
export function showsOwnValues({ read, dataClass, view }: RestRequest): boolean {
  const { form, attributes, expand } = read.output
  if (form !== 'entity' || expand || !dataClass) return false
  // An empty list counts as none.
  if (!attributes || attributes.items.length === 0) return hasOwnValues(view, dataClass)
  return attributes.items.every(({ path }) => path.length === 1 && isOwn(view, dataClass, path[0]!))
}

const isOwn = (view: View, dataClass: DataClass, name: string): boolean => {
  const kind = view.attribute(dataClass, name)?.kind
  return kind !== undefined && kind !== 'calculated' && kind !== 'alias'
}

/** Cached results by view: true for dataclasses whose attributes all have stored values. */
const resultsByView = new WeakMap<View, Map<DataClass, boolean>>()

function hasOwnValues(view: View, dataClass: DataClass): boolean {
  const cachedResult = resultsByView.get(view)?.get(dataClass)
  if (cachedResult !== undefined) return cachedResult
  const result = view.attributes(dataClass).every(({ name }) => isOwn(view, dataClass, name))
  resultsByView.set(view, new Map(resultsByView.get(view)).set(dataClass, result))
  return result
}

const rights = new WeakMap<Access, string>()
const UNRESTRICTED = digest('')

function rightsOf(access: Access | undefined): string {
  if (!access) return UNRESTRICTED
  const cachedDigest = rights.get(access)
  if (cachedDigest !== undefined) return cachedDigest
  const newDigest = digest(`${access.version} ${access.privileges}`)
  rights.set(access, newDigest)
  return newDigest
}

function digest(text: string): string {
  return createHash('sha256').update(START).update(text).digest('base64url').slice(0, 6)
}
