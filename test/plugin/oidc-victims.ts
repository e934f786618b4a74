/** Victims of attacks on a login with OpenID Connect, and the two providers at which they log in. */
import t from 'tap'
import type { LogLine } from '../support/base/log-sink.ts'
import type { Faults } from '../support/services/oidc/provider.ts'
import { type Browser, leaksIn, oidcProvider, type PageAnswer } from '../support/services/oidc/world.ts'

export const ADA = { sub: '17', email: 'ada@example.com', email_verified: true }
const GROUPS = { claim: 'groups', map: { editors: ['editor'] } }
/** A key with the name of a user. */
export const DIRECTORY = { users: [], keys: [{ name: 'robot@example.com', hash: '0'.repeat(64) }] }
const HOSTILE = /<script|alert\(|evil\.example/

/** An attack on the login of a victim. */
export interface Attack {
  name: string
  status: number
  /** Part of a reason in the log. */
  reason?: string
  /** Deviation of the provider from its usual answers. */
  faults?: Faults
  user?: object
  /** Anything else; by default the victim logs in at `a`. */
  run?: (victim: Browser) => Promise<PageAnswer>
}

const logIn = (victim: Browser) => victim.logIn('a')
/** Opens the callback of a login at `a` after a change of its address. */
export const withCallback = (change: (query: URLSearchParams, url: URL) => void) => async (victim: Browser) => {
  const url = new URL(await victim.toCallback('a'))
  change(url.searchParams, url)
  return victim.open(url.href)
}

type Provider = Awaited<ReturnType<typeof oidcProvider>>

export const twoProviders = async (): Promise<{ a: Provider; b: Provider }> => ({
  a: await oidcProvider(t, 'a', { roles: GROUPS, allow: { emailDomains: ['example.com'] } }),
  b: await oidcProvider(t, 'b', { userInfo: false }),
})

interface Scene {
  readonly a: Provider
  readonly b: Provider
  readonly browser: () => Browser
  readonly lines: LogLine[]
}

/**
 * Each attack is a test. After it no user is logged in, the answer is a page with its status and without anything of the attacker,
 * and the log has no code, state, token or secret.
 */
export function attackEach({ a, b, browser, lines }: Scene, attacks: readonly Attack[]): void {
  for (const { name, status, reason, faults = {}, user = {}, run = logIn } of attacks) {
    t.test(name, async t => {
      Object.assign(a.provider, { user: { ...ADA, ...user }, faults })
      const victim = browser()
      const answer = await run(victim)
      t.equal(answer.status, status, answer.text)
      t.equal(await victim.userName(), undefined)
      t.notMatch(answer.text, HOSTILE)
      t.notMatch(JSON.stringify(answer.headers), HOSTILE)
      if (Object.keys(user).length > 0)
        t.match(
          lines.find(line => line.msg === 'a login was refused'),
          { provider: 'a', subject: '17' },
        )
      if (reason) t.match(lines.find(line => line.provider === 'a')?.reason, reason)
      t.strictSame(leaksIn(lines, [a.provider, b.provider]), [])
      lines.length = 0
    })
  }
}
