import { inspect } from 'node:util'
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads'

/** Replaces hidden text in logs and messages. */
export const HIDDEN = '(hidden)'

/** Minimum length of a secret, in UTF-16 code units: shorter ones are parts of usual words and numbers. */
const MIN_LENGTH = 6
/** Maximum number of lines of a secret that are hidden one by one. */
const MAX_LINES = 100
/** Maximum number of characters of a string that `util.inspect` shows. */
const INSPECTED_LENGTH = 10_000
/** A text that is cut is searched up to this multiple of its length. */
const SEARCHED = 16

/** A text to be hidden, and its form inside JSON strings. */
interface Form {
  readonly text: string
  readonly inJson: string
}

/** Every thread begins with the secrets of the thread that started it. */
const KEY = 'tesser: known secrets'

/** Adds texts that this file hides from now on, in this thread and in those that it starts. */
export function addSecrets(values: readonly string[]): void {
  const before = knownSecrets()
  const newSecrets = values.filter(value => value.length >= MIN_LENGTH && !before.includes(value))
  if (newSecrets.length > 0) setEnvironmentData(KEY, [...before, ...new Set(newSecrets)])
}

export const knowsSecrets = (): boolean => knownSecrets().length > 0

const NONE: readonly string[] = []
const knownSecrets = (): readonly string[] =>
  (getEnvironmentData(KEY) as unknown as readonly string[] | undefined) ?? NONE

let formCache: { readonly values: readonly string[]; readonly forms: readonly Form[] } = { values: NONE, forms: [] }

function formsNow(): readonly Form[] {
  const values = knownSecrets()
  if (formCache.values !== values) {
    const texts = new Set(values.flatMap(formsOf).filter(text => text.length >= MIN_LENGTH))
    formCache = { values, forms: [...texts].map(text => ({ text, inJson: inJson(text) })) }
  }
  return formCache.forms
}

/**
 * A text with `(hidden)` in place of the secrets: as they are, line by line, as JSON or `util.inspect` escape them, in base64, and
 * as addresses encode them. O(length × number of forms).
 */
export function withoutKnownSecrets(text: string): string {
  const hits: [start: number, end: number][] = []
  for (const { text: secret } of formsNow()) {
    const { length } = secret
    for (let at = text.indexOf(secret); at >= 0; at = text.indexOf(secret, at + length)) hits.push([at, at + length])
  }
  if (hits.length === 0) return text
  let result = ''
  let shownTo = 0
  // Hits may overlap, and no part of any hit may be shown.
  for (const [start, end] of hits.sort(([a], [b]) => a - b)) {
    if (start > shownTo || shownTo === 0) result += `${text.slice(shownTo, start)}${HIDDEN}`
    shownTo = Math.max(shownTo, end)
  }
  return result + text.slice(shownTo)
}

/**
 * Like `withoutKnownSecrets`, for a line of JSON, which stays JSON: hides secrets in strings and names, and numbers that are a secret as a
 * whole.
 */
export function lineWithoutKnownSecrets(line: string): string {
  if (!formsNow().some(({ inJson }) => line.includes(inJson))) return line
  return `${JSON.stringify(copyWithoutKnownSecrets(JSON.parse(line)))}\n`
}

function copyWithoutKnownSecrets(value: unknown): unknown {
  if (typeof value === 'string') return withoutKnownSecrets(value)
  if (typeof value === 'number') return knownSecrets().includes(String(value)) ? HIDDEN : value
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copyWithoutKnownSecrets)
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [withoutKnownSecrets(name), copyWithoutKnownSecrets(each)]),
  )
}

/** The first characters of a text without known secrets. It is cut after secrets are replaced, so that no part of a secret is left. */
export function cutText(text: string, maxLength: number, mark = '…'): string {
  const safeText = withoutKnownSecrets(text.slice(0, SEARCHED * maxLength))
  return text.length > maxLength ? `${safeText.slice(0, maxLength)}${mark}` : safeText
}

/** Texts by which a secret would be recognised. */
function formsOf(value: string): string[] {
  const lines = value.split(/\r?\n/, MAX_LINES).map(line => line.trim())
  const fullTexts = [value, value.trim(), ...passwordIn(value)]
  return [
    ...[...fullTexts, ...lines, value.slice(0, INSPECTED_LENGTH)].flatMap(escapesOf),
    ...fullTexts.flatMap(text => [...inBase64(text), ...inAddresses(text)]),
  ]
}

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1)

function escapesOf(text: string): string[] {
  const inspectedText = inspect(text, { breakLength: Number.POSITIVE_INFINITY, maxStringLength: null }).slice(1, -1)
  return [text, inJson(text), inJson(inJson(text)), inspectedText, inJson(inspectedText)]
}

/** Password in an address, which drivers also show separately. */
function passwordIn(value: string): string[] {
  if (!URL.canParse(value)) return []
  const { password } = new URL(value)
  try {
    return [password, decodeURIComponent(password)]
  } catch {
    return [password]
  }
}

/**
 * Base64 characters that depend only on the value, for each alignment that it may have among the bytes around it, as in `Basic` headers.
 */
function inBase64(text: string): string[] {
  const bytes = Buffer.from(text)
  return [0, 1, 2].flatMap(before => {
    const all = Buffer.concat([Buffer.alloc(before), bytes])
    const end = Math.floor((all.length * 4) / 3)
    const start = Math.ceil((before * 4) / 3)
    return (['base64', 'base64url'] as const).map(encoding => all.toString(encoding).slice(start, end))
  })
}

function inAddresses(text: string): string[] {
  const url = new URL('http://h')
  url.password = text
  return [encodeURIComponent(text), url.password, new URLSearchParams({ a: text }).toString().slice(2)]
}
