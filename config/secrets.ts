import { HIDDEN } from '../engine/base/known-secrets.ts'

/** Common names of secrets: headers, options of plugins, fields that plugins log. */
const SECRET_NAME =
  /pass(word|phrase|wd|code)?(-4d)?$|secret|credential|token$|(api|access|private|signing)[-_]?key$|authorization$|cookie$/i
const URL_PASSWORD = /^([a-z][a-z0-9+.-]*:\/\/)[^/@\s]*@/i

/**
 * A copy as plain JSON data, without the values of secret names and without passwords in addresses.
 * @param maxObjects number of objects and arrays to copy; further ones are left out, since circular ones have no end
 * @param isPlain true for values that are shown whatever their name
 */
export function withoutSecrets(
  value: unknown,
  maxObjects = Number.POSITIVE_INFINITY,
  isPlain: (value: unknown) => boolean = () => false,
): unknown {
  let remainingObjects = maxObjects
  const redact = (value: unknown): unknown => {
    if (typeof value === 'string') return value.replace(URL_PASSWORD, `$1${HIDDEN}@`)
    if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value
    if (--remainingObjects < 0) return '…'
    if ('toJSON' in value && typeof value.toJSON === 'function') return redact(value.toJSON())
    if (Array.isArray(value)) return value.map(redact)
    const copy: Record<string, unknown> = {}
    for (const name in value) {
      const each: unknown = (value as Record<string, unknown>)[name]
      const isSecret = typeof each !== 'number' && typeof each !== 'boolean' && SECRET_NAME.test(name) && !isPlain(each)
      copy[name] = isSecret ? HIDDEN : redact(each)
    }
    return copy
  }
  return redact(value)
}
