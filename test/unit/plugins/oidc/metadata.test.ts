import t from 'tap'
import { checkMetadata } from '../../../../plugins/oidc/metadata.ts'

const HTTPS = { issuer: 'https://sso.example.com', allowHttp: false }
const LOCAL = { issuer: 'http://127.0.0.1:4444', allowHttp: false }
const TEST = { issuer: 'http://sso.example.com', allowHttp: true }

const TABLE: [name: string, options: typeof HTTPS, metadata: object, reason?: RegExp][] = [
  ['all with TLS', HTTPS, {}],
  ...['authorization_endpoint', 'token_endpoint', 'jwks_uri', 'userinfo_endpoint', 'end_session_endpoint'].flatMap(
    (name): typeof TABLE => {
      const reason = new RegExp(`the ${name} in the metadata of the provider is not an address with https`)
      return [
        [`${name} without TLS`, HTTPS, { [name]: 'http://sso.example.com/x' }, reason],
        [`${name} on this machine`, HTTPS, { [name]: 'http://127.0.0.1:4444/x' }, reason],
        [`${name} that is a script`, HTTPS, { [name]: 'javascript:alert(1)' }, reason],
        [`${name} that is a file`, LOCAL, { [name]: 'file:///etc/passwd' }, reason],
        [`${name} that is a number`, LOCAL, { [name]: 1 }, reason],
        [`${name} of an issuer on this machine`, LOCAL, { [name]: 'http://localhost:4444/x' }],
        [`${name} that an issuer on this machine has elsewhere`, LOCAL, { [name]: 'http://169.254.169.254/x' }, reason],
        [`${name} of a test`, TEST, { [name]: 'http://other.example.com/x' }],
      ]
    },
  ),
  ['no token endpoint', HTTPS, { token_endpoint: undefined }, /have no token_endpoint/],
  ['no end of sessions', HTTPS, { end_session_endpoint: undefined }],
  ['another issuer', HTTPS, { issuer: 'https://evil.example' }, /the issuer in the metadata/],
]
for (const [name, options, metadata, reason] of TABLE) {
  t.test(name, async t => {
    const at = (path: string) => `https://sso.example.com/${path}`
    const usual = { authorization_endpoint: at('a'), token_endpoint: at('t'), jwks_uri: at('k') }
    const optional = { userinfo_endpoint: at('u'), end_session_endpoint: at('e') }
    const check = () => checkMetadata({ issuer: options.issuer, ...usual, ...optional, ...metadata }, options)
    if (reason) t.throws(check, { message: reason })
    else t.doesNotThrow(check)
  })
}
