import { createHash, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose'
import type { Test } from 'tap'

type Claims = Record<string, unknown>
type Answer = (response: ServerResponse) => void

/** Deviations of a provider from its usual answers; each changes one of them. */
export interface Faults {
  metadata?: Claims
  /** Changes parameters of the redirect to the callback. */
  callback?: (parameters: URLSearchParams) => void
  /** Overrides claims of the ID token; `undefined` removes one. */
  claims?: Claims
  /** Changes the signed token. */
  token?: (token: string, claims: Claims) => string | Promise<string>
  header?: Claims
  signedBy?: CryptoKey
  userInfo?: Claims
  /** Answers in place of an endpoint. */
  instead?: Partial<Record<'/.well-known/openid-configuration' | '/token' | '/jwks' | '/userinfo', Answer>>
}

const CLIENT = { id: 'tesser', secret: 'a secret of the client + 100 %' }
export { CLIENT as OIDC_CLIENT }

export interface OidcProvider {
  readonly issuer: string
  /** Its own key, and one that is not its own. */
  readonly keys: { readonly publicJwk: JWK; readonly strange: CryptoKey; readonly strangeJwk: JWK }
  /** User that logs in next. */
  user: Claims
  faults: Faults
  /** Place of the client's secret, the only one that it accepts. */
  secretIn: 'head' | 'body'
  /** Everything secret that it has handed out: codes and tokens. */
  readonly secrets: string[]
  /** Parameters of the last request for authorization. */
  lastRequest: URLSearchParams
}

interface Grant {
  readonly redirectUri: string
  readonly challenge: string
  readonly nonce: string | null
  readonly user: Claims
}

/** Keys that providers take in turns, since an RSA key takes a quarter of a second: two providers of a test have different ones. */
let keys: ReturnType<typeof makeKeys>[] | undefined
let started = 0
async function makeKeys() {
  const strange = await generateKeyPair('RS256')
  return { ...(await generateKeyPair('RS256', { extractable: true })), strange }
}

/** An OpenID provider on a free port of 127.0.0.1, at which every user is logged in at once. It checks what real ones check. */
export async function startOidcProvider(t: Test, redirectUri: string): Promise<OidcProvider> {
  keys ??= [makeKeys(), makeKeys()]
  const { privateKey, publicKey, strange } = await keys[started++ % keys.length]!
  const jwkOf = async (key: CryptoKey) => ({ ...(await exportJWK(key)), kid: 'first', alg: 'RS256', use: 'sig' })
  const publicJwk = await jwkOf(publicKey)
  const codes = new Map<string, Grant>()
  const accessTokens = new Map<string, Claims>()
  const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  const provider: OidcProvider = {
    issuer,
    keys: { publicJwk, strange: strange.privateKey, strangeJwk: await jwkOf(strange.publicKey) },
    user: {},
    faults: {},
    secretIn: 'head',
    secrets: [],
    lastRequest: new URLSearchParams(),
  }

  const metadata = () => ({
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    userinfo_endpoint: `${issuer}/userinfo`,
    end_session_endpoint: `${issuer}/end`,
    jwks_uri: `${issuer}/jwks`,
    response_types_supported: ['code'],
    id_token_signing_alg_values_supported: ['RS256'],
    token_endpoint_auth_methods_supported: ['client_secret_basic'],
    authorization_response_iss_parameter_supported: true,
    ...provider.faults.metadata,
  })

  const authorize = ({ searchParams: query }: URL, response: ServerResponse) => {
    provider.lastRequest = query
    const isRight =
      query.get('client_id') === CLIENT.id &&
      query.get('redirect_uri') === redirectUri &&
      query.get('response_type') === 'code' &&
      query.get('code_challenge_method') === 'S256'
    if (!isRight) return send(response, 400, { error: 'invalid_request' })
    const code = randomUUID()
    provider.secrets.push(code, query.get('state')!)
    const { user } = provider
    codes.set(code, { redirectUri, challenge: query.get('code_challenge')!, nonce: query.get('nonce'), user })
    const parameters = new URLSearchParams({ code, state: query.get('state')!, iss: issuer })
    provider.faults.callback?.(parameters)
    response.writeHead(302, { Location: `${redirectUri}?${parameters}` }).end()
  }

  const token = async (request: IncomingMessage, response: ServerResponse) => {
    const form = new URLSearchParams(await bodyOf(request))
    provider.secrets.push(form.get('code_verifier') ?? '')
    const encoded = (text: string) => encodeURIComponent(text).replaceAll('%20', '+')
    const basic = Buffer.from(`${encoded(CLIENT.id)}:${encoded(CLIENT.secret)}`).toString('base64')
    const isRight =
      provider.secretIn === 'head'
        ? request.headers.authorization === `Basic ${basic}`
        : form.get('client_id') === CLIENT.id && form.get('client_secret') === CLIENT.secret
    if (!isRight) return send(response, 401, { error: 'invalid_client' })
    const grant = codes.get(form.get('code') ?? '')
    codes.delete(form.get('code') ?? '')
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    if (grant?.challenge !== challenge || grant.redirectUri !== form.get('redirect_uri'))
      return send(response, 400, {
        error: 'invalid_grant',
        error_description: `the code ${form.get('code')} is not valid`,
      })
    const accessToken = randomUUID()
    accessTokens.set(accessToken, grant.user)
    const idToken = await signed(grant)
    provider.secrets.push(accessToken, idToken)
    send(response, 200, { access_token: accessToken, token_type: 'Bearer', expires_in: 60, id_token: idToken })
  }

  const signed = async ({ nonce, user }: Grant): Promise<string> => {
    const now = Math.floor(Date.now() / 1000)
    const { groups: _, ...shown } = user
    const usual = { iss: issuer, aud: CLIENT.id, iat: now, exp: now + 60, nonce, ...shown, ...provider.faults.claims }
    const claims: Claims = Object.fromEntries(Object.entries(usual).filter(([, value]) => value !== undefined))
    const { faults } = provider
    const made = await new SignJWT(claims as JWTPayload)
      .setProtectedHeader({ alg: 'RS256', kid: 'first', ...faults.header })
      .sign(faults.signedBy ?? privateKey)
    return (await faults.token?.(made, claims)) ?? made
  }

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url!, issuer)
    const path = url.pathname as '/token'
    const instead = provider.faults.instead?.[path]
    if (instead) return instead(response)
    if (url.pathname === '/.well-known/openid-configuration') return send(response, 200, metadata())
    if (url.pathname === '/jwks') return send(response, 200, { keys: [publicJwk] })
    if (url.pathname === '/authorize') return authorize(url, response)
    if (url.pathname === '/token') return token(request, response)
    if (url.pathname === '/userinfo') {
      const user = accessTokens.get(request.headers.authorization?.slice('Bearer '.length) ?? '')
      return send(response, user ? 200 : 401, { ...user, ...provider.faults.userInfo })
    }
    send(response, 404, {})
  }
  return provider
}

export function send(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(value))
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const piece of request) text += piece
  return text
}
