import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'

type Scrypt = (password: string, salt: Buffer, bytes: number, options: object) => Promise<Buffer>
/** In a thread of libuv: about 60 ms that the kernel thread does not feel. */
const derive = promisify(scrypt) as unknown as Scrypt

/** Cost of new hashes, as OWASP recommends for scrypt: 2¹⁷ blocks of 1 KiB would be better, 2¹⁵ with p 3 is its equal at 32 MiB. */
const COST = { N: 2 ** 15, r: 8, p: 3 }
const KEY_BYTES = 32
const MAX_MEMORY = 256 * 2 ** 20

/** `scrypt$N$r$p$salt$hash`, the last two in base64url. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16)
  const key = await derive(normalised(password), salt, KEY_BYTES, { ...COST, maxmem: MAX_MEMORY })
  return ['scrypt', COST.N, COST.r, COST.p, salt.toString('base64url'), key.toString('base64url')].join('$')
}

export const HASH = /^scrypt\$(\d{1,8})\$(\d{1,3})\$(\d{1,3})\$([A-Za-z0-9_-]{16,128})\$([A-Za-z0-9_-]{22,128})$/

/** @param hash undefined: the user does not exist; it takes as long as if it did, and is false */
export async function verifyPassword(password: string, hash: string | undefined): Promise<boolean> {
  const [, N, r, p, salt, expected] = HASH.exec(hash ?? NOBODY) ?? HASH.exec(NOBODY)!
  const key = Buffer.from(expected!, 'base64url')
  const options = { N: Number(N), r: Number(r), p: Number(p), maxmem: MAX_MEMORY }
  const derived = await derive(normalised(password), Buffer.from(salt!, 'base64url'), key.length, options)
  return timingSafeEqual(derived, key) && hash !== undefined
}

/** Of a password that nobody knows. */
const NOBODY = [
  'scrypt',
  COST.N,
  COST.r,
  COST.p,
  randomBytes(16).toString('base64url'),
  randomBytes(KEY_BYTES).toString('base64url'),
].join('$')

/** One text for every way to type it. */
const normalised = (password: string): string => password.normalize('NFKC')
