import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { describeSystemError } from '../engine/base/system-error.ts'

/** An option value that is stored elsewhere: in an environment variable or in a file. */
export type Reference = { readonly env: string } | { readonly file: string }

/** Text that a reference resolves to, or the reason why it cannot be resolved, with a remedy. */
export type ReferencedText = { readonly text: string } | { readonly problem: string } | typeof UNREAD

/**
 * Result of a command that reads no references, because it runs nothing that needs their values. A string in place of a value would fail
 * the patterns of schemas, and code could store it or send it as a key.
 */
export const UNREAD = { isUnread: true } as const

const MAX_KIB = 64

/** True for an object with one property, `env` or `file`, that is a string. */
export function isReference(value: unknown): value is Reference {
  if (typeof value !== 'object' || value === null) return false
  const [[name, text] = [], more] = Object.entries(value)
  return more === undefined && (name === 'env' || name === 'file') && typeof text === 'string'
}

/** True for an object that was meant as a reference but has the wrong form. */
export const resemblesReference = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).some(name => /^(?:env|file)$/i.test(name))

/** Instruction for writing references, for messages. */
export const REFERENCE_FORM = 'write { "env": "VARIABLE" } or { "file": "path" }, with nothing beside it'

export const describeReference = (reference: Reference): string =>
  'env' in reference ? `the variable ${reference.env}` : `the file ${reference.file}`

/** @param folder start of relative paths */
export function readReference(
  reference: Reference,
  env: Readonly<Record<string, string | undefined>>,
  folder: string,
): ReferencedText {
  const [[name, text]] = Object.entries(reference) as [[string, string]]
  if (text === '') return { problem: `the reference has an empty ${name}; ${REFERENCE_FORM}` }
  return 'env' in reference ? readVariable(reference.env, env) : readText(resolve(folder, reference.file))
}

function readVariable(name: string, env: Readonly<Record<string, string | undefined>>): ReferencedText {
  const text = Object.hasOwn(env, name) ? env[name] : undefined
  if (text) return { text }
  const state = text === '' ? 'empty' : 'not set'
  return { problem: `the variable ${name} is ${state}; set it in the environment of the server` }
}

function readText(path: string): ReferencedText {
  const remedy = 'it has to be a text file with the value and nothing else'
  try {
    const stats = statSync(path)
    // Anything other than a file could be endless.
    if (!stats.isFile()) return { problem: `${path} is not a file; ${remedy}` }
    if (stats.size > MAX_KIB * 1024) return { problem: `the file ${path} is larger than ${MAX_KIB} KiB; ${remedy}` }
    const text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path)).replace(/\r?\n$/, '')
    return text === '' ? { problem: `the file ${path} is empty; ${remedy}` } : { text }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return { problem: `there is no file ${path}; ${remedy}` }
    if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return { problem: `the file ${path} is not UTF-8; ${remedy}` }
    return { problem: `the file ${path} cannot be read: ${describeSystemError(error)}` }
  }
}
