import { inspect } from 'node:util'
import { setEnvironmentData, Worker } from 'node:worker_threads'
import { once } from 'node:events'
import t from 'tap'
import {
  cutText,
  addSecrets,
  knowsSecrets,
  lineWithoutKnownSecrets,
  withoutKnownSecrets,
} from '../../../../engine/base/known-secrets.ts'
import { createLogger } from '../../../../kernel/log.ts'
import { nastySecrets } from '../../../support/base/nasty-secrets.ts'

/** Other tests of this process have their own. */
const onlyHide = (...values: string[]): void => {
  setEnvironmentData('tesser: known secrets', undefined)
  addSecrets(values)
}
t.afterEach(() => onlyHide())

/** Ways to write a value so that a reader could take it from the text. */
const WAYS: Readonly<Record<string, (value: string) => string>> = {
  plain: value => value,
  'within words': value => `a${value}b`,
  'after a line break': value => `\n${value}`,
  JSON: value => JSON.stringify({ a: [value] }),
  'JSON in JSON': value => JSON.stringify({ a: JSON.stringify({ b: value }) }),
  inspected: value => inspect({ a: value }, { breakLength: Number.POSITIVE_INFINITY }),
  'inspected in JSON': value => JSON.stringify(inspect([value], { breakLength: Number.POSITIVE_INFINITY })),
  'encoded for an address': value => `?key=${encodeURIComponent(value)}&`,
  'a form': value => new URLSearchParams({ key: value, b: '1' }).toString(),
  'an address': value => `https://ada:${Object.assign(new URL('http://h'), { password: value }).password}@host`,
  ...Object.fromEntries(
    ['', 'a', 'ab'].map(user => [
      `base64 ${user.length}`,
      (value: string) => Buffer.from(`${user}${value}`).toString('base64'),
    ]),
  ),
  base64url: value => Buffer.from(value).toString('base64url'),
}

t.test('a value is not in a text, however it is written there', t => {
  for (const [i, secret] of nastySecrets.entries()) {
    onlyHide(secret)
    for (const [name, write] of Object.entries(WAYS)) {
      const shown = withoutKnownSecrets(write(secret))
      t.match(shown, '(hidden)', `${name}, secret ${i}`)
      // Left are the characters of base64 that depend on what stands around, and the count of those that inspect leaves out.
      t.ok(shown.length < write('').length + '(hidden)'.length + 40, `${name}, secret ${i}`)
      t.notOk(shown.includes(secret))
      t.equal(shown.split('(hidden)').length, 2, `once: ${name}, secret ${i}`)
    }
  }
  t.end()
})

t.test('no line of the log has a value in any of its texts and names, and each is still JSON', t => {
  let line = ''
  const log = createLogger({ log: { level: 'info', pretty: false } }, { write: text => (line = text) })
  onlyHide(...nastySecrets)
  for (const [i, secret] of nastySecrets.entries()) {
    const auth = `Basic ${Buffer.from(`ada:${secret}`).toString('base64')}`
    const cause = new TypeError(secret)
    const write: (() => void)[] = [
      () => log.info(secret),
      () => log.info(`before\n${secret} after`),
      () => log.info({ secret, list: [[secret]], deep: { [secret]: { secret } } }, 'fields'),
      () => log.child({ of: secret }).warn({ err: new Error(secret, { cause }) }, 'an error'),
      () => log.info('formats %s, %j and %o', secret, { secret }, [secret]),
      () => log.info({ options: JSON.stringify({ secret }), auth }),
    ]
    for (const [j, each] of write.entries()) {
      each()
      const texts: string[] = []
      JSON.parse(line, (name, value) => {
        texts.push(name, String(value))
        return value
      })
      const shown = nastySecrets.filter(other => texts.some(text => text.includes(other)))
      t.strictSame([shown.length, line.includes('(hidden)')], [0, true], `line ${j} of secret ${i}`)
    }
  }
  t.end()
})

t.test('values', t => {
  const table: { name: string; hide: string[]; text: string; shown: string }[] = [
    { name: 'none', hide: [], text: 'abcdef', shown: 'abcdef' },
    { name: 'shorter than six characters', hide: ['abcde'], text: 'abcde', shown: 'abcde' },
    { name: 'six characters', hide: ['abcdef'], text: 'abcdefg', shown: '(hidden)g' },
    { name: 'several times', hide: ['abcdef'], text: 'abcdef abcdef', shown: '(hidden) (hidden)' },
    { name: 'one in another', hide: ['abcdef', 'xabcdefx'], text: 'abcdef xabcdefx', shown: '(hidden) (hidden)' },
    { name: 'overlapping', hide: ['abcdef', 'defghi'], text: '-abcdefghi-', shown: '-(hidden)-' },
    { name: 'side by side', hide: ['abcdef', 'ghijkl'], text: '-abcdefghijkl-', shown: '-(hidden)-' },
    { name: 'repetitions', hide: ['aaaaaa'], text: 'aaaaaaaaaaaaaa', shown: '(hidden)aa' },
    { name: 'one line of a value', hide: ['line one\nline two'], text: 'see line two', shown: 'see (hidden)' },
    { name: 'the password of an address', hide: ['db://ada:p%2Fssword@h'], text: 'no p/ssword', shown: 'no (hidden)' },
    { name: 'another case', hide: ['abcdef'], text: 'ABCDEF', shown: 'ABCDEF' },
  ]
  for (const { name, hide, text, shown } of table) {
    onlyHide(...hide)
    t.equal(
      knowsSecrets(),
      hide.some(value => value.length > 5),
      name,
    )
    t.equal(withoutKnownSecrets(text), shown, name)
  }
  t.end()
})

t.test('a line keeps everything else', t => {
  onlyHide('nabcdef', '123456')
  for (const [line, shown] of [
    ['{"a":"\\nabcdef"}\n', '{"a":"\\nabcdef"}\n'],
    ['{"a":123456,"b":1234567,"c":[null,true,{}]}\n', '{"a":"(hidden)","b":1234567,"c":[null,true,{}]}\n'],
    ['{"__proto__":"nabcdef"}\n', '{"__proto__":"(hidden)"}\n'],
  ] as const)
    t.equal(lineWithoutKnownSecrets(line), shown)
  t.end()
})

t.test('a text is cut after values are hidden, so that no part of one is left', t => {
  onlyHide('0123456789')
  const shown: [string, string][] = [
    ['abc', 'abc'],
    ['abcdefg 0123456789', 'abcdefg (h…'],
    ['0123456789', '(hidden)'],
    [`${'x'.repeat(10)}0123456789`, `${'x'.repeat(10)}…`],
    [`${'x'.repeat(155)}0123456789`, `${'x'.repeat(10)}…`],
  ]
  for (const [text, expected] of shown) t.equal(cutText(text, 10), expected)
  t.end()
})

t.test('threads that start later hide the same values', async t => {
  onlyHide('geheim-0002')
  const code = `import { getEnvironmentData, parentPort } from 'node:worker_threads'
    parentPort.postMessage(getEnvironmentData('tesser: known secrets'))`
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`))
  t.strictSame(await once(worker, 'message'), [['geheim-0002']])
})
