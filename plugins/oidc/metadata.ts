import type { ServerMetadata } from 'openid-client'
import { WrongIssuer } from './failure.ts'
import { isLoopback, type ProviderOptions } from './options.ts'

const NEEDED = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const
const ENDPOINTS = [...NEEDED, 'userinfo_endpoint', 'end_session_endpoint'] as const

/** @throws {Error} the provider cannot be used, or serves more than one issuer */
export function checkMetadata(metadata: ServerMetadata, options: Pick<ProviderOptions, 'issuer' | 'allowHttp'>): void {
  // A provider that serves all tenants would let the administrator of each tenant decide who its users are.
  if (new URL(metadata.issuer).href !== new URL(options.issuer).href) throw new WrongIssuer(metadata.issuer)
  for (const name of NEEDED)
    if (metadata[name] === undefined) throw new Error(`the metadata of the provider have no ${name}`)
  for (const name of ENDPOINTS) {
    if (metadata[name] !== undefined && !isUsable(metadata[name], options))
      throw new Error(`the ${name} in the metadata of the provider is not an address with https`)
  }
}

/** True for an address with TLS, or without it if the provider itself is without it and on this machine or allowed by `allowHttp`. */
function isUsable(address: unknown, { issuer, allowHttp }: Pick<ProviderOptions, 'issuer' | 'allowHttp'>): boolean {
  if (typeof address !== 'string' || !URL.canParse(address)) return false
  const { protocol, hostname } = new URL(address)
  return (
    protocol === 'https:' || (protocol === 'http:' && issuer.startsWith('http:') && (allowHttp || isLoopback(hostname)))
  )
}
