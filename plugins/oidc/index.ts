import { definePlugin, json, ProtocolError, type Reply, type RestRequest } from '../../kernel/api.ts'
import { type OidcOptions, OPTIONS, problemsOf } from './options.ts'
import { errorPage, wantsPage } from './page.ts'

/**
 * Logins at OpenID providers: Keycloak, Entra ID, Google and others, by the authorization code flow with PKCE.
 *
 *   "plugins": [{ "plugin": "tesser/plugins/oidc", "options": {
 *     "publicUrl": "https://data.example.com",
 *     "providers": { "google": { "issuer": "https://accounts.google.com", "clientId": "…", "clientSecret": { "env": "OIDC_SECRET" } } }
 *   } }]
 *
 *   GET  /auth/providers                            →  { "providers": [{ "name", "label", "login": "/auth/google/login" }] }
 *   GET  /auth/{provider}/login?returnTo=/explorer/ →  303 to the provider
 *   GET  /auth/{provider}/callback                  →  303 to `returnTo`, with the cookie of a new session
 *   POST /auth/logout?returnTo=/                    →  the session ends: { "result": true, "providerLogout": null }; 303 for a browser
 *
 * A login begins a session like a login at `$directory`, with the roles that claims of the user are mapped to. Errors are pages for
 * browsers, and JSON for all other clients. The metadata of a provider is read by its first login, and the implementation is loaded then.
 * Options and examples: plugins/docs/pages/guide/single-sign-on.md. Source: OpenID Connect Core 1.0; RFC 7636, 9207 and 9700.
 */
export default definePlugin({
  name: 'oidc',
  kernel: '^1.0.0',
  options: OPTIONS,
  register(scope, options) {
    const { route, basePath, engine, log } = scope
    const problems = problemsOf(options, basePath, engine.declaredRoles())
    if (problems.length > 0) throw new Error(problems.join('\n'))
    warnOfOpenProviders(options, log)

    let loading: Promise<import('./logins.ts').OidcLogins> | undefined
    const logins = () => (loading ??= import('./logins.ts').then(({ OidcLogins }) => new OidcLogins(scope, options)))
    const names = Object.keys(options.providers)
    for (const name of names) {
      const login = `${basePath}/auth/${name}/login`
      route(`/auth/${name}/login`, GET, request =>
        answerWithPage(request, login, async () => (await logins()).begin(name, request)),
      )
      route(`/auth/${name}/callback`, GET, request =>
        answerWithPage(request, login, async () => (await logins()).finish(name, request)),
      )
    }
    route('/auth/logout', { verbs: ['POST'] }, request =>
      answerWithPage(request, `${basePath}/`, async isPage => (await logins()).logout(request, isPage)),
    )
    const list = names.map(name => ({
      name,
      label: options.providers[name]!.label ?? name,
      login: `${basePath}/auth/${name}/login`,
    }))
    route('/auth/providers', GET, () => json({ providers: list }))
  },
})

const GET = { verbs: ['GET'] } as const

/** Answers a request, with a page for a person when it fails. @param again address to try again */
async function answerWithPage(
  request: RestRequest,
  again: string,
  answer: (isPage: boolean) => Promise<Reply>,
): Promise<Reply> {
  const isPage = wantsPage(request.transport)
  // The head and the client's address are read after the implementation has been loaded.
  request.transport.keep()
  try {
    return await answer(isPage)
  } catch (error) {
    if (isPage && error instanceof ProtocolError) return errorPage(error, again)
    throw error
  }
}

function warnOfOpenProviders({ providers }: OidcOptions, log: { warn(text: string): void }): void {
  for (const [name, { issuer, allow }] of Object.entries(providers)) {
    if (!allow) log.warn(`every account of ${issuer} may log in: providers.${name}.allow says who may, {} everyone`)
  }
}
