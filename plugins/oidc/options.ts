import { type PluginEngine, type Static, Type } from '../../kernel/api.ts'

const TEXT = Type.String({ minLength: 1, maxLength: 1_000 })
const OBJECT_OPTIONS = { additionalProperties: false }

const GRANTS = Type.Object(
  {
    claim: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: 'Claim with a string or a list of strings; `a.b` is `b` in `a`.',
      }),
    ),
    map: Type.Record(Type.String(), Type.Array(TEXT), {
      default: {},
      description: 'Names in roles.json, by value of the claim.',
    }),
    default: Type.Array(TEXT, { default: [], description: 'Names in roles.json that every user of the provider has.' }),
  },
  OBJECT_OPTIONS,
)

const ALLOW = Type.Object(
  {
    emailDomains: Type.Optional(
      Type.Array(Type.String({ pattern: '^[a-z0-9.-]+$' }), {
        minItems: 1,
        description: 'Domains in lower case; the confirmed e-mail address must have one of them.',
      }),
    ),
    claims: Type.Optional(
      Type.Record(Type.String({ minLength: 1 }), Type.Array(TEXT, { minItems: 1 }), {
        description: 'Values by claim; the claim must have at least one of its values.',
      }),
    ),
  },
  OBJECT_OPTIONS,
)

/** Parameters of a request for authorization that the server sets itself. */
const RESERVED =
  'client_id|redirect_uri|response_type|response_mode|scope|state|nonce|code_challenge|code_challenge_method|request|request_uri'

const PROVIDER = Type.Object(
  {
    issuer: Type.String({
      pattern: '^https?://',
      description: 'Address of the provider, without `/.well-known/openid-configuration`.',
    }),
    clientId: TEXT,
    clientSecret: Type.Optional(
      Type.String({ minLength: 1, description: 'Secret of the client. Without it, the client is a public client.' }),
    ),
    clientAuthentication: Type.Optional(
      Type.Unsafe<'basic' | 'post'>({
        type: 'string',
        enum: ['basic', 'post'],
        description: 'How the secret is sent.',
      }),
    ),
    label: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: 'Name that people see.' })),
    scopes: Type.String({ default: 'openid profile email', pattern: '(?:^| )openid(?: |$)' }),
    userName: Type.String({
      default: 'email',
      minLength: 1,
      maxLength: 200,
      description: '`email` (a confirmed address), `sub`, or another claim that users cannot choose freely.',
    }),
    namePrefix: Type.Optional(
      Type.String({
        pattern: '^(?:[A-Za-z0-9._-]{1,40}:)?$',
        description:
          'Text before each user name; by default none for `email`, otherwise the name of the provider with a colon.',
      }),
    ),
    roles: Type.Optional(GRANTS),
    privileges: Type.Optional(GRANTS),
    allow: Type.Optional(ALLOW),
    userInfo: Type.Boolean({ default: true, description: 'Requests claims from the UserInfo endpoint too.' }),
    parameters: Type.Record(Type.String({ pattern: `^(?!(?:${RESERVED})$)[a-z_]{1,50}$` }), TEXT, {
      ...OBJECT_OPTIONS,
      default: {},
      description: 'Additional parameters of the authorization request, such as `prompt`.',
    }),
    logout: Type.Boolean({ default: false, description: 'A logout ends the session at the provider too.' }),
    timeoutSeconds: Type.Integer({ default: 10, minimum: 1, maximum: 60 }),
    allowHttp: Type.Boolean({
      default: false,
      description: 'Accepts an issuer without TLS that is not on this machine.',
    }),
  },
  OBJECT_OPTIONS,
)

export const OPTIONS = Type.Object({
  publicUrl: Type.String({
    pattern: '^https?://',
    description: 'Address of the server as browsers see it, such as `https://data.example.com`.',
  }),
  providers: Type.Record(Type.String({ pattern: '^[a-z][a-z0-9-]{0,39}$' }), PROVIDER, {
    ...OBJECT_OPTIONS,
    minProperties: 1,
  }),
})

export type OidcOptions = Static<typeof OPTIONS>
export type ProviderOptions = Static<typeof PROVIDER>
export type Grants = Static<typeof GRANTS>

/** Text before the names of users of a provider. */
export const prefixOf = (name: string, { namePrefix, userName }: ProviderOptions): string =>
  namePrefix ?? (userName === 'email' ? '' : `${name}:`)

/**
 * Everything that the schema cannot express, one sentence for each problem.
 * @param basePath `server.basePath`, which the server adds itself
 * @param declaredRoles names in roles.json; undefined without the file
 */
export function problemsOf(
  { publicUrl, providers }: OidcOptions,
  basePath: string,
  declaredRoles: ReturnType<PluginEngine['declaredRoles']>,
): string[] {
  const entries = Object.entries(providers)
  return [
    ...publicUrlProblems(publicUrl, basePath),
    ...entries.flatMap(([name, provider]) => [
      ...issuerProblems(provider).map(problem => `providers.${name}.issuer: ${problem}`),
      ...grantProblems(provider, declaredRoles).map(problem => `providers.${name}.${problem}`),
    ]),
    ...prefixProblems(entries),
  ]
}

function publicUrlProblems(publicUrl: string, basePath: string): string[] {
  if (!URL.canParse(publicUrl)) return [`publicUrl: ${JSON.stringify(publicUrl)} is not an address`]
  const { origin, protocol, hostname } = new URL(publicUrl)
  if (publicUrl !== origin) {
    const basePathHint = basePath === '' ? '' : `; server.basePath (${basePath}) is added to it`
    return [`publicUrl: write ${JSON.stringify(origin)}, without a path or a slash at its end${basePathHint}`]
  }
  if (protocol === 'http:' && !isLoopback(hostname))
    return [
      `publicUrl: ${publicUrl} is without TLS, which only localhost may be: codes of logins can be read on the way`,
    ]
  return []
}

function issuerProblems({ issuer, allowHttp }: ProviderOptions): string[] {
  if (!URL.canParse(issuer)) return [`${JSON.stringify(issuer)} is not an address`]
  const { protocol, hostname, search, hash, pathname } = new URL(issuer)
  if (pathname.includes('/.well-known/')) return ['it is the part before /.well-known/']
  if (search !== '' || hash !== '') return ['an issuer has neither a query nor a fragment']
  const [, tenant] = (ENTRA.test(hostname) && ALL_TENANTS.exec(pathname)) || []
  if (tenant !== undefined)
    return [
      `${issuer} is not one tenant, and the administrators of each decide what its tokens say; write its id in place of ${decodeURIComponent(tenant)}`,
    ]
  if (protocol === 'http:' && !allowHttp && !isLoopback(hostname))
    return [
      `${issuer} is without TLS: anyone on the way could log in as anyone; "allowHttp": true accepts it for tests`,
    ]
  return []
}

function grantProblems(
  { roles, privileges }: ProviderOptions,
  declaredRoles: ReturnType<PluginEngine['declaredRoles']>,
): string[] {
  const kinds = [
    { kind: 'roles', grants: roles, known: declaredRoles?.roles.map(({ role }) => role) },
    { kind: 'privileges', grants: privileges, known: declaredRoles?.privileges.map(({ privilege }) => privilege) },
  ]
  return kinds.flatMap(({ kind, grants, known }) => {
    if (!grants) return []
    const unclear = Object.keys(grants.map).length > 0 && grants.claim === undefined
    const names = [...new Set([...grants.default, ...Object.values(grants.map).flat()])]
    return [
      ...(unclear ? [`${kind}: map needs the name of the claim in ${kind}.claim`] : []),
      ...names.flatMap(name => unknownName(kind, name, known)),
    ]
  })
}

function unknownName(kind: string, name: string, knownNames: readonly string[] | undefined): string[] {
  if (knownNames?.includes(name)) return []
  return [
    knownNames
      ? `${kind}: roles.json has no ${kind.slice(0, -1)} ${JSON.stringify(name)}; it has ${knownNames.join(', ') || 'none'}`
      : `${kind}: there is no roles.json that declares ${JSON.stringify(name)}`,
  ]
}

/**
 * Problems of prefixes. If two providers issued the same name, the user of one could act as the user of the other; confirmed e-mail
 * addresses are shared.
 */
function prefixProblems(entries: readonly [string, ProviderOptions][]): string[] {
  return entries.flatMap(([name, provider], i) => {
    const prefix = prefixOf(name, provider)
    const isEmail = provider.userName === 'email'
    const rival =
      prefix === '' && !isEmail
        ? entries.find((_, j) => j !== i)
        : entries.slice(0, i).find(([other, options]) => {
            // Queries ignore the case of names.
            const isSame = prefix.toLowerCase() === prefixOf(other, options).toLowerCase()
            return isSame && prefix !== '' && !(isEmail && options.userName === 'email')
          })
    if (!rival) return []
    const remedy = `give it one of its own, such as ${JSON.stringify(`${name}:`)}`
    return [`providers.${name}.namePrefix: users of ${name} and ${rival[0]} could get the same names; ${remedy}`]
  })
}

/** Hosts of Entra ID in all its clouds. */
const ENTRA =
  /^(?:login\.microsoftonline\.(?:com|us)|login\.(?:partner\.microsoftonline|chinacloudapi)\.cn|login\.windows\.net|sts\.windows\.net)$/
/**
 * Path of several tenants. `consumers` is an alias: its metadata name the tenant of all personal accounts.
 * Source: https://learn.microsoft.com/entra/identity-platform/v2-protocols-oidc
 */
const ALL_TENANTS = /^\/(common|organizations|consumers|%7btenant(?:id)?%7d)(?:\/|$)/i

/** True for a host of `URL` that is this machine. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host)
