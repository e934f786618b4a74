import { domainToASCII } from 'node:url'
import t from 'tap'
import { fold } from '../../../../engine/base/text/fold.ts'
import type { ProviderOptions } from '../../../../plugins/oidc/options.ts'
import { type Claims, Refused, userOf } from '../../../../plugins/oidc/user.ts'
import { emailOf } from '../../../../plugins/oidc/user-name.ts'
import fc from '../../../support/runner/fast-check.ts'

const user = (userName: string, claims: Claims) =>
  userOf('sso', { userName } as ProviderOptions, { iss: 'https://x.org', sub: '1', email_verified: true, ...claims })

const FULL_NAMES: [name: string, given: unknown, fullName: string | undefined][] = [
  ['as it is', 'Ada Lovelace', 'Ada Lovelace'],
  ['without characters that hide or turn others', '\u202eevil\u0000 A\u200bda\n\u2028', 'evil Ada'],
  ['without half of a character', `${'x'.repeat(199)}😀`, 'x'.repeat(199)],
  ['of nothing else', '\u0000\u202e', undefined],
  ['that is not a text', ['Ada'], undefined],
]
t.test('names for people', t => {
  for (const [name, given, fullName] of FULL_NAMES) t.equal(user('sub', { name: given }).fullName, fullName, name)
  t.end()
})

const ADDRESSES: [given: string, address: string | undefined][] = [
  ['ada@example.com', 'ada@example.com'],
  ['Ada@EXAMPLE.com', 'ada@example.com'],
  ['ada@exÀmple.com', 'ada@xn--exmple-jta.com'],
  ['ada@xn--exmple-jta.com', 'ada@xn--exmple-jta.com'],
  // The sign for Kelvin, which `toLowerCase` makes a k.
  ['\u212aay@example.com', '\u212aay@example.com'],
  ['adà@example.com', 'adà@example.com'],
  ['ada@example.com/.evil.example', undefined],
  ['ada@example.com?x', undefined],
  ['ada@ex%61mple.com', undefined],
  ['ada@127.1', undefined],
  ['ada@0x7f', undefined],
  ['ada@１２７.1', undefined],
  // Newer versions of Node.js keep a label that is not Punycode as it is.
  ['ada@xn--a', domainToASCII('xn--a') === '' ? undefined : 'ada@xn--a'],
  ['ada@example.com@example.com', undefined],
  ['ada\u0000@example.com', undefined],
  ['ada', undefined],
  ['@', undefined],
  [`${'a'.repeat(200)}@x.org`, undefined],
]
t.test('an e-mail address has one spelling', t => {
  for (const [given, address] of ADDRESSES) t.equal(emailOf(given)?.address, address, JSON.stringify(given))
  t.end()
})

t.test('a confirmation may be a text', async t => {
  for (const verified of [true, 'true', 'True', 'TRUE'])
    t.equal(user('email', { email: 'ada@example.com', email_verified: verified }).userName, 'ada@example.com')
  for (const verified of [false, 'false', 'yes', '1', '', 1, null, undefined, ['true'], ' true'])
    t.throws(() => user('email', { email: 'ada@example.com', email_verified: verified }), /is not confirmed/)
})

const REFUSED: [name: string, claim: string, claims: Claims, reason: RegExp][] = [
  ['no address', 'email', { email: undefined }, /it has no e-mail address; the scope email asks for it/],
  ['an address that is none', 'email', { email: '@' }, /its e-mail address \(email\) is not one that can be used/],
  ['an address that is a list', 'email', { email: ['a@x.org'] }, /is not one that can be used/],
  ['a number', 'id', { id: 17 }, /its claim id, the user name, has to be a text; it is 17$/],
  ['an object', 'id', { id: {} }, /it is an object$/],
  ['none', 'id', {}, /it is missing$/],
  ['200 capitals', 'sub', { sub: 'A'.repeat(200) }, /is too long/],
  ['a blank at the end', 'sub', { sub: 'a ' }, /blanks at an end/],
]
for (const [name, claim, claims, reason] of REFUSED) {
  t.test(`a user name is refused: ${name}`, async t => {
    t.throws(() => user(claim, claims), { message: reason })
  })
}

/** Letters that other ones are taken for, by folding or by a decoder. */
const LETTERS = [..."aAàÀåÅåiİıIsßſSkKσςΣ%4160.-_~+|:@ ’'eéﬁＡ", '\u0301', '😀', '\ud83d', '\u200b']
const text = fc.string({ unit: fc.constantFrom(...LETTERS), minLength: 1, maxLength: 8 })
const lower = (given: string): string => given.replaceAll(/[A-Z]/g, each => each.toLowerCase())

for (const claim of ['sub', 'nick', 'email']) {
  t.test(`different users never have names that are equal in queries: ${claim}`, t => {
    const isEmail = claim === 'email'
    const nameOf = (given: string): string | undefined => {
      try {
        return user(claim, { [claim]: isEmail ? `${given}@x.org` : given }).userName
      } catch (error) {
        if (error instanceof Refused) return undefined
        throw error
      }
    }
    let named = 0
    fc.assert(
      fc.property(text, text, (a, b) => {
        const [one, other] = [nameOf(a), nameOf(b)]
        if (one === undefined || other === undefined) return true
        named++
        // The capitals of an address do not tell users apart.
        const isSame = isEmail ? lower(a) === lower(b) : a === b
        return one === fold(one) && (fold(one) === fold(other)) === isSame
      }),
      {
        numRuns: 2_000,
        examples: [
          ['adà', 'ada'],
          ['aBcD', 'AbCd'],
          ['%41', 'A'],
          ['a', 'a'],
        ],
      },
    )
    t.ok(named > 300, `${named} pairs`)
    t.end()
  })
}
