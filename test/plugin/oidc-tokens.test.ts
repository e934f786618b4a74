/** Attacks on a login with OpenID Connect: tokens and claims that a server must not believe. */
import { createHmac } from 'node:crypto'
import { base64url, SignJWT } from 'jose'
import t from 'tap'
import { type Faults, OIDC_CLIENT, send } from '../support/services/oidc/provider.ts'
import { PUBLIC, startOidcServer } from '../support/services/oidc/world.ts'
import { attackEach, DIRECTORY, twoProviders } from './oidc-victims.ts'

const { a, b } = await twoProviders()
const { browser, lines } = await startOidcServer(t, {
  providers: { a: a.options, b: b.options },
  directory: DIRECTORY,
})

/** A token with other bytes in its payload and the same signature. */
const tampered = (token: string): string => {
  const [head, payload, signature] = token.split('.') as [string, string, string]
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString())
  return [head, base64url.encode(JSON.stringify({ ...claims, email: 'boss@example.com' })), signature].join('.')
}
const withHead = (head: object, signature: (text: string) => string) => (token: string) => {
  const text = `${base64url.encode(JSON.stringify(head))}.${token.split('.')[1]}`
  return `${text}.${signature(text)}`
}
const hmac = (key: string) => (text: string) => createHmac('sha256', key).update(text).digest('base64url')
const NOW = Math.floor(Date.now() / 1000)

/** Name, a part of the reason in the log, deviation. */
const ofToken: [string, string, Faults, status?: number][] = [
  ['another nonce', 'nonce', { claims: { nonce: 'x' } }],
  ['no nonce', 'nonce', { claims: { nonce: undefined } }],
  ['another issuer', 'iss', { claims: { iss: 'https://evil.example' } }],
  ['another audience', 'aud', { claims: { aud: 'evil' } }],
  ['no audience', 'aud', { claims: { aud: undefined } }],
  ['several audiences without azp', 'untrusted audiences', { claims: { aud: [OIDC_CLIENT.id, 'evil'] } }],
  ['several audiences, for another client', 'azp', { claims: { aud: [OIDC_CLIENT.id, 'evil'], azp: 'evil' } }],
  ['expired', 'expiration', { claims: { exp: NOW - 60 } }],
  ['without an end', 'exp', { claims: { exp: undefined } }],
  ['an end that is a text', 'exp', { claims: { exp: '9999999999' } }],
  ['not valid yet', 'nbf', { claims: { nbf: NOW + 3_600 } }],
  ['issued in the future', 'iat', { claims: { iat: NOW + 3_600, exp: NOW + 7_200 } }],
  ['without the time of its issue', 'iat', { claims: { iat: undefined } }],
  ['without a subject', 'sub', { claims: { sub: undefined } }],
  ['an empty subject', 'sub', { claims: { sub: '' } }],
  ['a subject that is a number', 'sub', { claims: { sub: 17 } }],
  ['a subject of 300 characters', 'sub', { claims: { sub: 'x'.repeat(300) } }],
  ['algorithm none', 'alg', { token: withHead({ alg: 'none' }, () => '') }],
  ['algorithm none in other letters', 'alg', { token: withHead({ alg: 'nOnE', kid: 'first' }, () => '') }],
  ['HS256 with the secret of the client', 'alg', { token: withHead({ alg: 'HS256' }, hmac(OIDC_CLIENT.secret)) }],
  [
    'HS256 with the public key',
    'alg',
    { token: withHead({ alg: 'HS256', kid: 'first' }, hmac(JSON.stringify(a.provider.keys.publicJwk))) },
  ],
  ['an unknown key', 'no applicable keys', { header: { kid: 'second' } }],
  ['signed with another key', 'signature', { signedBy: a.provider.keys.strange }],
  [
    'signed with a key in its own head',
    'signature',
    {
      token: (_, claims) =>
        new SignJWT(claims)
          .setProtectedHeader({ alg: 'RS256', kid: 'first', jwk: a.provider.keys.publicJwk })
          .sign(a.provider.keys.strange),
    },
  ],
  ['a changed payload', 'signature', { token: tampered }],
  ['no signature', 'signature', { token: token => token.replace(/[^.]*$/, '') }],
  ['not a token', 'Invalid JWT', { token: () => 'not a token' }],
  [
    'absent',
    'id_token',
    { instead: { '/token': response => send(response, 200, { access_token: 'x', token_type: 'Bearer' }) } },
  ],
  ['user information about another user', 'sub', { userInfo: { sub: '66', email: 'boss@example.com' } }],
  ['user information without a subject', 'sub', { userInfo: { sub: undefined } }],
  [
    'user information that is a page',
    'content-type',
    { instead: { '/userinfo': response => response.end('<script>') } },
  ],
  ['user information that fails', 'status 500', { instead: { '/userinfo': response => send(response, 500, {}) } }, 503],
  [
    'a token endpoint that leads elsewhere',
    'status 307',
    { instead: { '/token': response => response.writeHead(307, { Location: PUBLIC }).end() } },
  ],
  ['a token endpoint that fails', 'status 502', { instead: { '/token': response => send(response, 502, {}) } }, 503],
  [
    'a huge answer',
    'bytes',
    { instead: { '/token': response => send(response, 200, { access_token: 'x'.repeat(600_000) }) } },
  ],
]

const ofClaims: [string, object, faults?: Faults, reason?: string][] = [
  ['groups that are an object', { groups: { editors: true } }],
  ['groups that are a number', { groups: 1 }],
  ['groups within groups', { groups: [['editors']] }],
  ['10,000 groups', { groups: Array.from({ length: 10_000 }, (_, i) => `group ${i}`) }],
  ['groups elsewhere', { _claim_names: { groups: 'x' }, _claim_sources: { x: { endpoint: 'https://evil.example' } } }],
  ['an address that is not confirmed', { email_verified: false }, undefined, 'email_verified is false'],
  ['an address that is not confirmed, in a text', { email_verified: 'false' }, undefined, 'email_verified is "false"'],
  ['an address about which nothing is known', { email_verified: undefined }, undefined, 'email_verified is missing'],
  ['a confirmation that is a number', { email_verified: 1 }, undefined, 'email_verified is 1'],
  ['a confirmation that is an object', { email_verified: { true: true } }, undefined, 'email_verified is an object'],
  ['no address', { email: undefined }],
  ['an address that is a list', { email: ['ada@example.com'] }],
  ['a domain that begins with the allowed one', { email: 'ada@example.com.evil.example' }],
  ['a domain that ends with the allowed one', { email: 'ada@evil-example.com' }],
  ['two domains', { email: 'ada@evil.example@example.com' }],
  ['a line break in the address', { email: 'ada@example.com\n' }],
  ['an invisible character in the address', { email: 'a\u200bda@example.com' }],
  ['the name of a key of this server', { email: 'Robot@example.com' }],
  ['a domain that ends before its end', { email: 'ada@example.com/.evil.example' }],
  ['an encoded domain', { email: 'ada@ex%61mple.com' }],
  ['a number as domain', { email: 'ada@127.1' }],
  [
    'a confirmed address in the token, another one in the user information',
    { email: undefined, email_verified: undefined },
    { userInfo: { email: 'boss@example.com', email_verified: false }, claims: { email_verified: true } },
  ],
]

attackEach({ a, b, browser, lines }, [
  ...ofToken.map(([name, reason, faults, status = 401]) => ({ name: `token: ${name}`, status, reason, faults })),
  ...ofClaims.map(([name, user, faults, reason]) => ({
    name: `claims: ${name}`,
    status: 403,
    user,
    ...(reason && { reason }),
    ...(faults && { faults }),
  })),
])
