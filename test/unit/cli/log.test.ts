import t from 'tap'
import { createLogger } from '../../../kernel/log.ts'

const logged = (
  log: { level: 'info' | 'warn'; pretty?: boolean },
  work: (logger: ReturnType<typeof createLogger>) => void,
  isTTY?: boolean,
): string => {
  let text = ''
  const { pretty = undefined } = log
  work(createLogger({ log: { ...log, pretty } }, { write: line => (text += line), isTTY }))
  return text
}

t.test('a line is a JSON object with level and time as text', async t => {
  const line = logged({ level: 'info', pretty: false }, log => log.child({ plugin: 'health' }).info({ n: 1 }, 'hello'))
  t.match(JSON.parse(line), { level: 'info', time: /^\d{4}-\d\d-\d\dT.*Z$/, plugin: 'health', n: 1, msg: 'hello' })
})

t.test('cookies and authorization are hidden, wherever headers are logged', async t => {
  const headers = { cookie: 'secret', authorization: 'secret', 'set-cookie': 'secret', host: 'a' }
  const line = logged({ level: 'info', pretty: false }, log =>
    log.info({ headers, request: { headers }, ...headers }, 'x'),
  )
  t.notMatch(line, /secret/)
  t.match(line, /"host":"a"/)
})

t.test('unreadable and circular values are logged as far as possible', async t => {
  const endless: Record<string, unknown> = { password: 'secret' }
  endless.self = endless
  const line = logged({ level: 'info', pretty: false }, log => log.info({ endless }, 'x'))
  t.match(line, /"password":"\(hidden\)".*"msg":"x"/)
  const throwing = {
    get value() {
      throw new Error('secret')
    },
  }
  const told = logged({ level: 'info', pretty: false }, log => log.info({ throwing }, 'x'))
  t.match(JSON.parse(told), { unreadable: ['throwing'], msg: 'x' })
})

t.test('messages below the level are left out', async t => {
  t.equal(
    logged({ level: 'warn', pretty: false }, log => log.info('hello')),
    '',
  )
})

t.test('pretty lines hold time, level, message, values and the stack of an error', async t => {
  const text = logged({ level: 'info', pretty: true }, log =>
    log.error({ err: new Error('boom'), path: '/rest', n: [1] }, 'internal error'),
  )
  t.match(text, /^\d\d:\d\d:\d\d\.\d{3} error internal error {2}path=\/rest {2}n=\[1\]\nError: boom\n\s+at /)
})

t.test('lines fit the output, unless the option decides', async t => {
  const table: [pretty: boolean | undefined, isTTY: boolean | undefined, isJson: boolean][] = [
    [undefined, undefined, true],
    [undefined, false, true],
    [undefined, true, false],
    [true, false, false],
    [true, true, false],
    [false, false, true],
    [false, true, true],
  ]
  for (const [pretty, isTTY, isJson] of table) {
    const line = logged({ level: 'info', pretty }, log => log.info({ n: 1 }, 'hello'), isTTY)
    t.match(line, isJson ? /^\{.*"n":1,"msg":"hello"\}\n$/ : /info {2}hello {2}n=1\n$/, `${pretty} ${isTTY}`)
  }
})

t.test('texts of clients neither control the terminal nor look like lines of their own', async t => {
  const path = '/x\n12:00:00.000 info  forged'
  const text = logged({ level: 'info', pretty: true }, log => log.info({ path, name: '\u001b[2J\r\u009b' }, 'a\u0007b'))
  t.match(text, /a\\u0007b {2}path="\/x\\n12:00:00\.000 info {2}forged" {2}name=\\u001b\[2J\\u000d\\u009b\n$/)
})
