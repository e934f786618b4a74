import type { User } from '../../kernel/api.ts'
import { type Grants, prefixOf, type ProviderOptions } from './options.ts'
import { type Email, emailOf, encodedName, INVISIBLE, MAX_NAME } from './user-name.ts'

/** Claims about a user, verified to come from the provider. */
export type Claims = Readonly<Record<string, unknown>>

/** Maximum number of values of one claim that are examined. */
const MAX_VALUES = 2_000

/** Reason why a user may not log in, for the log: it names options. */
export class Refused extends Error {}

/**
 * User whom a provider describes.
 * @param name of the provider
 * @throws {Refused}
 */
export function userOf(name: string, provider: ProviderOptions, claims: Claims): User {
  const { allow = {}, roles, privileges } = provider
  const { emailDomains, claims: requiredClaims = {} } = allow
  if (emailDomains && !emailDomains.includes(confirmedEmail(claims).domain))
    throw new Refused(`its e-mail address is in none of the domains in providers.${name}.allow.emailDomains`)
  for (const [claim, values] of Object.entries(requiredClaims)) {
    if (!textsAt(claims, claim).some(value => values.includes(value)))
      throw new Refused(`its claim ${claim} has none of the values in providers.${name}.allow.claims`)
  }
  const [ofRoles, ofPrivileges] = [grantsOf(claims, roles), grantsOf(claims, privileges)]
  return {
    userName: prefixOf(name, provider) + userNameIn(claims, provider.userName),
    fullName: fullNameIn(claims),
    // Stays the same when the name changes, and is never another user's. Source: OpenID Connect Core, 5.7.
    id: `${claims.iss}#${claims.sub}`,
    groups: [...new Set([...ofRoles.groups, ...ofPrivileges.groups])],
    granted: { roles: ofRoles.names, privileges: ofPrivileges.names },
  }
}

function userNameIn(claims: Claims, claim: string): string {
  const value = claim === 'email' ? confirmedEmail(claims).address : claimAt(claims, claim)
  if (typeof value !== 'string' || value === '')
    throw new Refused(`its claim ${claim}, the user name, has to be a text; it is ${shortText(value)}`)
  if (INVISIBLE.test(value) || /^\s|\s$/.test(value))
    throw new Refused(`its claim ${claim} cannot be a user name: it has invisible characters, or blanks at an end`)
  const name = value.length > MAX_NAME ? '' : encodedName(value)
  if (name === '' || name.length > MAX_NAME)
    throw new Refused(
      `its claim ${claim} cannot be a user name: it is too long, and a name has at most ${MAX_NAME} characters, three for each that is encoded`,
    )
  return name
}

/** Name for people, without characters that hide or reverse parts of it. */
function fullNameIn({ name }: Claims): string | undefined {
  if (typeof name !== 'string') return undefined
  const visibleName = name.slice(0, MAX_NAME).replaceAll(new RegExp(INVISIBLE, 'gu'), '').trim()
  return visibleName === '' ? undefined : visibleName
}

/** E-mail address that the provider has confirmed: an unconfirmed address can be anything that the user has typed. */
function confirmedEmail({ email, email_verified: verified }: Claims): Email {
  if (email === undefined || email === null || email === '')
    throw new Refused('it has no e-mail address; the scope email asks for it')
  const address = typeof email === 'string' ? emailOf(email) : undefined
  if (!address) throw new Refused('its e-mail address (email) is not one that can be used, such as ada@example.com')
  if (!isTrue(verified))
    throw new Refused(`its e-mail address is not confirmed: email_verified is ${shortText(verified)}`)
  return address
}

/** Some providers, such as Cognito and earlier versions of Apple's, send booleans as texts. */
const isTrue = (value: unknown): boolean => value === true || (typeof value === 'string' && /^true$/i.test(value))

/** A value as the log shows it. */
function shortText(value: unknown): string {
  if (value === undefined) return 'missing'
  if (Array.isArray(value)) return 'a list'
  return isObject(value) ? 'an object' : JSON.stringify(value).slice(0, 100)
}

function grantsOf(claims: Claims, grants: Grants | undefined): { names: string[]; groups: string[] } {
  if (!grants) return { names: [], groups: [] }
  const values = grants.claim === undefined ? [] : textsAt(claims, grants.claim)
  const groups = [...new Set(values)].filter(value => Object.hasOwn(grants.map, value))
  return { groups, names: [...new Set([...grants.default, ...groups.flatMap(group => grants.map[group]!)])] }
}

/**
 * Strings in a claim; none if it is absent. A claim that is not a string or a list of strings is refused, so that no part of it grants
 * rights.
 */
function textsAt(claims: Claims, path: string): readonly string[] {
  const value = claimAt(claims, path)
  const names = claims._claim_names
  // Source: OpenID Connect Core, 5.6.2; Entra ID sends groups in this form if there are many.
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
