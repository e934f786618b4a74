import { createHash, createPublicKey, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify, type JWTVerifyGetKey } from 'jose'
import type { User } from '../session/session.ts'

export interface TokenOptions {
  /** Public key in PEM, or a JSON Web Key Set. */
  keyFile: string
  issuer: string | undefined
  audience: string | undefined
  algorithms: readonly string[]
}

/** Verified tokens that are remembered, so that only the first request with one waits. */
const REMEMBERED = 10_000
const REMEMBERED_MS = 300_000

/** Verifies JSON Web Tokens: `sub` is the user, `privileges` and `roles` are lists of names. Source: RFC 7519. */
export class Tokens {
  private readonly remembered = new Map<string, { user: User; until: number }>()

  private constructor(
    private readonly key: KeyObject | JWTVerifyGetKey,
    private readonly options: TokenOptions,
    private readonly now: () => number,
  ) {}

  /** @throws {Error} the key file cannot be read, with its name */
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

  /** A token that was verified a short while ago. */
  recall(token: string): User | undefined {
    const known = this.remembered.get(digest(token))
    return known && known.until > this.now() ? known.user : undefined
  }

  /** @returns undefined when it is not valid, whatever the reason */
  async verify(token: string): Promise<User | undefined> {
    const { issuer, audience, algorithms } = this.options
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
      const granted = { privileges: names(payload.privileges), roles: names(payload.roles) }
      const user = { userName: payload.sub!, groups: names(payload.groups), granted }
      this.remember(token, user, Math.min(payload.exp! * 1000, this.now() + REMEMBERED_MS))
      return user
    } catch {
      // Why a token does not hold is no business of who sends it.
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
const names = (claim: unknown): string[] => (Array.isArray(claim) ? claim.filter(name => typeof name === 'string') : [])
