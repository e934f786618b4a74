import { json, type RestRequest, type Scope } from '../../kernel/api.ts'

const METADATA = '/.well-known/oauth-protected-resource'

/**
 * Names the issuer of JSON Web Tokens to clients, if it is an address: in the metadata of the resource, to which a header of each 401
 * refers. Source: RFC 9728, 3 and 5.1.
 */
export function serveMetadata({ identities, basePath, route, onReply }: Scope): void {
  const issuer = identities.tokens?.issuer
  if (issuer === undefined || !/^https?:/.test(issuer) || !URL.canParse(issuer)) return
  const describe = ({ transport: { host, isSecure } }: RestRequest) =>
    json({
      resource: `${originOf({ host, isSecure })}${basePath}/mcp`,
      resource_name: 'Tesser',
      authorization_servers: [issuer],
      bearer_methods_supported: ['header'],
    })
  for (const path of [METADATA, `${METADATA}/mcp`] as const) route(path, { verbs: ['GET'] }, describe)
  onReply((reply, request) => {
    if (reply.status !== 401 || request.path !== '/mcp') return reply
    const address = `${originOf(request)}${basePath}${METADATA}/mcp`
    const challenge = { 'WWW-Authenticate': `Bearer realm="tesser", resource_metadata="${address}"` }
    return { ...reply, headers: { ...reply.headers, ...challenge } }
  })
}

const originOf = ({ host, isSecure }: { readonly host: string; readonly isSecure: boolean }): string =>
  `${isSecure ? 'https' : 'http'}://${host}`
