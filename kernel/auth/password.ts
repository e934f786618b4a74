import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { AuthErrors } from './auth-errors.ts'

type Scrypt = (password: string, salt: Buffer, bytes: number, options: object) => Promise<Buffer>
/** Runs in a thread of libuv: about 60 ms that do not block the kernel thread. */
const derive = promisify(scrypt) as unknown as Scrypt

/** Cost of new hashes, as OWASP recommends for scrypt: 2¹⁷ blocks of 1 KiB would be better; 2¹⁵ with p 3 is equivalent at 32 MiB. */
const COST = { N: 2 ** 15, r: 8, p: 3 }
const KEY_BYTES = 32
const MAX_MEMORY = 256 * 2 ** 20

/** Upper bound of `auth.login.maxPasswordBytes`: normalisation takes 2.6 ms for the worst text of this length, four times that for twice it. */
export const MAX_PASSWORD_BYTES = 4096

/**
 * Hash in the form `scrypt$N$r$p$salt$hash`, the last two in base64url.
 * @param cost cost of each comparison with the hash; tests that log in often use a lower one
 * @throws {AuthErrors.PASSWORD_TOO_LONG}
 */
export async function hashPassword(password: string, cost = COST): Promise<string> {
  const salt = randomBytes(16)
  const key = await derive(normalisePassword(password), salt, KEY_BYTES, { ...cost, maxmem: MAX_MEMORY })
  return ['scrypt', cost.N, cost.r, cost.p, salt.toString('base64url'), key.toString('base64url')].join('$')
}

export const HASH = /^scrypt\$(\d{1,8})\$(\d{1,3})\$(\d{1,3})\$([A-Za-z0-9_-]{16,128})\$([A-Za-z0-9_-]{22,128})$/

/** Reason why scrypt would refuse the cost parameters of a hash; undefined for valid ones. */
export function costProblem(hash: string): string | undefined {
  const [, N, r, p] = HASH.exec(hash)!.map(Number) as [number, number, number, number]
  if (N < 2 || !Number.isInteger(Math.log2(N))) return `N is ${N}, which is not a power of two`
  if (r === 0 || p === 0) return 'r and p have to be at least 1'
  const bytes = 128 * r * (N + p + 2)
  return bytes > MAX_MEMORY ? `it needs ${bytes} bytes of memory; at most ${MAX_MEMORY} are granted` : undefined
}

/**
 * Compares a password with a hash, in the same time whether or not it matches.
 * @param hash by default a hash that no password matches, as expensive as new hashes
 * @throws {AuthErrors.PASSWORD_TOO_LONG}
 */
export async function verifyPassword(password: string, hash = UNMATCHABLE): Promise<boolean> {
  const [, N, r, p, salt, expected] = HASH.exec(hash)!
  const key = Buffer.from(expected!, 'base64url')
  const options = { N: Number(N), r: Number(r), p: Number(p), maxmem: MAX_MEMORY }
  const derivedKey = await derive(normalisePassword(password), Buffer.from(salt!, 'base64url'), key.length, options)
  return timingSafeEqual(derivedKey, key)
}

const UNMATCHABLE = [
  'scrypt',
  COST.N,
  COST.r,
  COST.p,
  randomBytes(16).toString('base64url'),
  randomBytes(KEY_BYTES).toString('base64url'),
].join('$')

/**
 * Normalises a password, so that all ways to type it give the same string. Takes quadratic time in runs of combining marks, hence the
 * bound.
 */
function normalisePassword(password: string): string {
  const bytes = Buffer.byteLength(password)
  if (bytes > MAX_PASSWORD_BYTES) throw AuthErrors.PASSWORD_TOO_LONG(bytes, MAX_PASSWORD_BYTES)
  return password.normalize('NFKC')
}
