import type { User } from '../../kernel/api.ts'
import { OidcErrors } from './errors.ts'
import { type Grants, prefixOf, type ProviderOptions } from './options.ts'

/** Claims about a user, verified to come from the provider. */
export type Claims = Readonly<Record<string, unknown>>

/** Values of one claim that are looked at. */
const MAX_VALUES = 2_000
const MAX_NAME = 200
const EMAIL = /^[^\s@:"(),;<>\\[\]]+@([^\s@:"(),;<>\\[\]]+)$/
/** Control characters and invisible ones, with which one name could look like another. */
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}]|^\s|\s$/u

/**
 * User whom a provider describes.
 * @param name of the provider
 * @throws {OidcErrors.NOT_ALLOWED} 403
 */
export function userOf(name: string, provider: ProviderOptions, claims: Claims): User {
  const { allow = {}, roles, privileges } = provider
  const refuse = (reason: string) => OidcErrors.NOT_ALLOWED(provider.label ?? name, reason)
  try {
    const { emailDomains, claims: required = {} } = allow
    if (emailDomains && !emailDomains.includes(EMAIL.exec(confirmedEmail(claims))![1]!.toLowerCase()))
      throw new Refused('its e-mail address is of another domain')
    for (const [claim, values] of Object.entries(required)) {
      if (!textsAt(claims, claim).some(value => values.includes(value)))
        throw new Refused(`its claim ${claim} has none of the values that providers.${name}.allow names`)
    }
    const fullName = typeof claims.name === 'string' ? claims.name.slice(0, MAX_NAME) : undefined
    const [ofRoles, ofPrivileges] = [granted(claims, roles), granted(claims, privileges)]
    return {
      userName: prefixOf(name, provider) + userNameIn(claims, provider.userName),
      fullName,
      // Stays the same when the name changes, and is never another user's. Source: OpenID Connect Core, 5.7.
      id: `${claims.iss}#${claims.sub}`,
      groups: [...new Set([...ofRoles.groups, ...ofPrivileges.groups])],
      granted: { roles: ofRoles.names, privileges: ofPrivileges.names },
    }
  } catch (error) {
    if (error instanceof Refused) throw refuse(error.message)
    throw error
  }
}

class Refused extends Error {}

function userNameIn(claims: Claims, claim: string): string {
  if (claim === 'email') return confirmedEmail(claims)
  const value = claimAt(claims, claim)
  if (typeof value !== 'string' || value === '')
    throw new Refused(`it has no text in the claim ${claim}, the user name`)
  if (value.length > MAX_NAME || INVISIBLE.test(value))
    throw new Refused(
      `its claim ${claim} cannot be a user name, which has at most ${MAX_NAME} characters, none of them invisible`,
    )
  return value
}

/** E-mail address that the provider has confirmed to be the user's: others can be any that the user has typed. */
function confirmedEmail({ email, email_verified: verified }: Claims): string {
  if (typeof email !== 'string' || email.length > MAX_NAME || !EMAIL.test(email) || INVISIBLE.test(email))
    throw new Refused('it has no e-mail address; the scope email asks for it')
  if (verified !== true) throw new Refused('its e-mail address is not confirmed (email_verified)')
  return email
}

function granted(claims: Claims, grants: Grants | undefined): { names: string[]; groups: string[] } {
  if (!grants) return { names: [], groups: [] }
  const values = grants.claim === undefined ? [] : textsAt(claims, grants.claim)
  const groups = [...new Set(values)].filter(value => Object.hasOwn(grants.map, value))
  return { groups, names: [...new Set([...grants.default, ...groups.flatMap(group => grants.map[group]!)])] }
}

/** Texts in a claim, none if it is absent. Anything but a text or a list of texts is refused: no part of it is taken as rights. */
function textsAt(claims: Claims, path: string): readonly string[] {
  const value = claimAt(claims, path)
  const names = claims._claim_names
  // Source: OpenID Connect Core, 5.6.2; Entra ID sends groups so when there are many.
  if (value === undefined && isObject(names) && Object.hasOwn(names, path.split('.', 1)[0]!))
    throw new Refused(`its claim ${path} is too large for the provider to send`)
  if (value === undefined || value === null) return []
  if (typeof value === 'string') return [value]
  if (!Array.isArray(value) || !value.every(each => typeof each === 'string'))
    throw new Refused(`its claim ${path} is neither a text nor a list of texts`)
  if (value.length > MAX_VALUES)
    throw new Refused(`its claim ${path} has ${value.length} values; the limit is ${MAX_VALUES}`)
  return value
}

/** Value of a claim; `a.b` is `b` in `a` unless there is a claim with this name, such as `https://example.com/roles`. */
function claimAt(claims: Claims, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path]
  for (let dot = path.lastIndexOf('.'); dot > 0; dot = path.lastIndexOf('.', dot - 1)) {
    const inner = Object.hasOwn(claims, path.slice(0, dot)) ? claims[path.slice(0, dot)] : undefined
    if (isObject(inner)) return claimAt(inner, path.slice(dot + 1))
  }
  return undefined
}

const isObject = (value: unknown): value is Claims =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
