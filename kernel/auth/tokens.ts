import { createHash, createPublicKey, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type Static, Type } from '@sinclair/typebox'
import { Ajv, type ValidateFunction } from 'ajv'
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify, type JWTVerifyGetKey } from 'jose'
import type { User } from './user.ts'

export interface TokenOptions {
  /** Public key in PEM, or a JSON Web Key Set. */
  keyFile: string
  issuer: string | undefined
  audience: string | undefined
  algorithms: readonly string[]
  maxBytes: number
}

const NAMES = Type.Optional(Type.Array(Type.String()))
const TEXT = Type.Optional(Type.String())

/** Claims that are read, by the server or by `jose`. Others are ignored. Source: RFC 7519, 4.1. */
const CLAIMS = Type.Object({
  sub: Type.String({ minLength: 1, maxLength: 1000 }),
  exp: Type.Number(),
  nbf: Type.Optional(Type.Number()),
  iat: Type.Optional(Type.Number()),
  iss: TEXT,
  jti: TEXT,
  aud: Type.Optional(Type.Union([Type.String(), Type.Array(Type.String())])),
  privileges: NAMES,
  roles: NAMES,
  groups: NAMES,
})
type Claims = Static<typeof CLAIMS>
let check: ValidateFunction<Claims> | undefined
const areClaims = (payload: unknown): payload is Claims => {
  check ??= new Ajv({ validateSchema: false }).compile<Claims>(CLAIMS)
  return check(payload)
}

/** Maximum number of remembered tokens; only the first request with a token waits for its verification. */
const REMEMBERED = 10_000
const REMEMBERED_MS = 300_000

/**
 * Verifies JSON Web Tokens: `sub` is the user, `privileges`, `roles` and `groups` are lists of names. A claim of a wrong type
 * makes a token invalid: it is refused, not read as if the claim were absent. Source: RFC 7519.
 */
export class Tokens {
  private readonly remembered = new Map<string, { user: User; until: number }>()

  private constructor(
    private readonly key: KeyObject | JWTVerifyGetKey,
    private readonly options: TokenOptions,
    private readonly now: () => number,
  ) {}

  /** @throws {Error} naming the key file, if it cannot be read */
  static open(options: TokenOptions, now: () => number): Tokens {
    try {
      const text = readFileSync(options.keyFile, 'utf8')
      const isSet = text.trimStart().startsWith('{')
      const key = isSet ? createLocalJWKSet(JSON.parse(text) as JSONWebKeySet) : createPublicKey(text)
      return new Tokens(key, options, now)
    } catch (error) {
      throw new Error(
        `${options.keyFile} holds no public key in PEM and no JSON Web Key Set: ${(error as Error).message}`,
      )
    }
  }

  /** Issuer that tokens must name. */
  get issuer(): string | undefined {
    return this.options.issuer
  }

  /** User of a token that was verified recently. */
  recall(token: string): User | undefined {
    if (token.length > this.options.maxBytes) return undefined
    const entry = this.remembered.get(digest(token))
    return entry && entry.until > this.now() ? entry.user : undefined
  }

  /** @returns undefined for an invalid token, whatever the reason */
  async verify(token: string): Promise<User | undefined> {
    const { issuer, audience, algorithms, maxBytes } = this.options
    if (token.length > maxBytes) return undefined
    const checks = {
      algorithms: [...algorithms],
      currentDate: new Date(this.now()),
      requiredClaims: ['sub', 'exp'],
      ...(issuer !== undefined && { issuer }),
      ...(audience !== undefined && { audience }),
    }
    try {
      const { payload } =
        typeof this.key === 'function'
          ? await jwtVerify(token, this.key, checks)
          : await jwtVerify(token, this.key, checks)
      if (!areClaims(payload)) return undefined
      const { sub: userName, exp, privileges = [], roles = [], groups = [] } = payload
      const user = { userName, groups, granted: { privileges, roles } }
      this.remember(token, user, Math.min(exp * 1000, this.now() + REMEMBERED_MS))
      return user
    } catch {
      // The reason is not passed on: it would help a forger.
      return undefined
    }
  }

  private remember(token: string, user: User, until: number): void {
    const [oldest] = this.remembered.keys()
    if (oldest !== undefined && this.remembered.size >= REMEMBERED) this.remembered.delete(oldest)
    this.remembered.set(digest(token), { user, until })
  }
}

const digest = (token: string): string => createHash('sha256').update(token).digest('base64')
