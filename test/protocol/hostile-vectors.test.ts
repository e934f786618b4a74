import t from 'tap'
import { passages } from '../support/fixtures/passages.ts'
import { startServer, type TestAnswer, usualTransports } from '../support/servers/test-server.ts'

/** Invalid vectors, wherever a request can contain one. After each, the server answers as before. */

/** JSON of a vector, and the description of it in the message. */
const VECTORS: readonly [json: string, received: RegExp][] = [
  ['[]', /an array of 0/],
  ['[1,0]', /an array of 2/],
  ['[1,0,0,0]', /an array of 4/],
  ['[[1,0,0]]', /an array of 1/],
  ['[[1],[0],[0]]', /an array at position 0/],
  ['[{},0,0]', /an object at position 0/],
  ['[1,"0",0]', /a string at position 1/],
  ['[1,"",0]', /a string at position 1/],
  ['[1,null,0]', /null at position 1/],
  ['[1,true,0]', /a boolean at position 1/],
  ['[1,0,1e39]', /1e\+39, which a Float32 cannot hold, at position 2/],
  ['[-3.5e38,0,0]', /-3\.5e\+38/],
  ['[1,0,1e999]', /1e999, which a Float32 cannot hold, at position 2/],
  ['[1,0,1e-999]', /1e-999, which a Float32 cannot hold, at position 2/],
  ['"x"', /a value of type string/],
  ['"[1,0,0]"', /a value of type string/],
  ['1', /a value of type number/],
  ['true', /a value of type boolean/],
  ['{"0":1,"1":0,"2":0,"length":3}', /a value of type object/],
  [`[${new Array(50_000).fill(1)}]`, /an array of 50000/],
  [`[${new Array(1_000).fill('"x"')}]`, /an array of 1000/],
]

/** JSON of the operand of a vector, and the description of it in the message. */
const COMPARISONS: readonly [json: string, received: RegExp][] = [
  ...VECTORS.map(([json, received]) => [`{"vector":${json}}`, received] as const).map(
    ([a, b]) => [a, b] as [string, RegExp],
  ),
  ['{"vector":null}', /whose vector is null/],
  ['{}', /without a vector/],
  ['null', /null/],
  ['[]', /an array/],
  ['[1,0,0]', /an array/],
  ['"x"', /a string/],
  ['0.5', /a number/],
  ['false', /a boolean/],
  ['{"vector":[1,0,0],"threshold":"0.5"}', /whose threshold is "0\.5"/],
  ['{"vector":[1,0,0],"threshold":1e999}', /whose threshold is 1e999/],
  ['{"vector":[1,0,0],"threshold":-1e999}', /whose threshold is -1e999/],
  ['{"vector":[1,0,0],"threshold":true}', /whose threshold is true/],
  ['{"vector":[1,0,0],"threshold":[]}', /whose threshold is \[\]/],
  ['{"vector":[1,0,0],"threshold":{}}', /whose threshold is \{\}/],
  ['{"vector":[1,0,0],"metric":"manhattan"}', /whose metric is "manhattan"/],
  ['{"vector":[1,0,0],"metric":"Cosine"}', /whose metric is "Cosine"/],
  ['{"vector":[1,0,0],"metric":""}', /whose metric is ""/],
  ['{"vector":[1,0,0],"metric":null}', /whose metric is null/],
  ['{"vector":[1,0,0],"metric":1}', /whose metric is 1/],
  ['{"vector":[1,0,0],"metric":["cosine"]}', /whose metric is \["cosine"\]/],
  ['{"vector":[1,0,0],"metric":"toString"}', /whose metric is "toString"/],
  [`{"vector":[1,0,0],"metric":"${'x'.repeat(100_000)}"}`, /whose metric is "x+…/],
  ['{"vector":[1,0,0],"treshold":1}', /"treshold".*did you mean "?threshold/],
  ['{"vector":[1,0,0],"":1}', /a property ""/],
  ['{"vector":[1,0,0],"constructor":1}', /a property "constructor"/],
  ['{"vector":[1,0,0],"toString":1}', /a property "toString"/],
  ['{"vectors":[1,0,0]}', /"vectors".*did you mean "?vector/],
]

/** Texts that cannot be parsed as JSON. */
const TEXTS = [
  '[{"vector":[1,NaN,0]}]',
  '[{"vector":[1,Infinity,0]}]',
  '[{"vector":[1,-Infinity,0]}]',
  '[{"vector":[1,,0]}]',
  '[{"vector":[1,0,0}]',
  '[{"vector":[1 0 0]}]',
  '[{"vector":[0x1,0,0]}]',
  '[{"vector":[1,0,0],"__proto__":{"threshold":0}}]',
  '[{"vector":[1,0,0],"constructor":{"prototype":{}}}]',
  '[{vector:[1,0,0],__proto__:{metric:"dot"}}]',
  `${'['.repeat(5_000)}${']'.repeat(5_000)}`,
  `[{"vector":${'['.repeat(100)}1${']'.repeat(100)}}]`,
]

for (const transport of usualTransports) {
  t.test(`invalid vectors, on ${transport}`, async t => {
    const server = await startServer(t, passages, { transport })
    const isAnswering = async (): Promise<boolean> => {
      const { json } = await server.get(`/Passage/ID?$filter="embedding > :1"&$params='[{"vector":[1,0,0]}]'`)
      return json?.__ENTITIES?.map(({ ID }: { ID: number }) => ID).join() === '1,2,7'
    }
    const isRefusal = (
      answer: TestAnswer,
      { status, errCode, message }: { status: number; errCode: number; message: readonly RegExp[] },
      name: string,
    ): void => {
      const shown = `${name.slice(0, 80)}: ${answer.status} ${answer.text.slice(0, 300)}`
      t.equal(answer.status, status, shown)
      const error = answer.json?.__ERROR?.[0]
      t.equal(error?.errCode, errCode, shown)
      for (const each of message) t.match(error?.message, each, shown)
      t.ok(answer.text.length < 1_000, 'the input is not sent back')
    }

    for (const [json, received] of COMPARISONS) {
      const expected = {
        status: 400,
        errCode: json === 'null' ? 1279 : 1280,
        message: [
          received,
          /it takes an object such as \{"vector":\[… 3 numbers …\],"metric":"cosine","threshold":0\.5\}/,
        ],
      }
      const body = `{"$filter":"embedding > :1 or page = 1","$params":[${json}]}`
      const answer = await server.post('/Passage/$query', body)
      isRefusal(answer, expected, json)
      if (json.length < 2_000) {
        const params = encodeURIComponent(`[${json}]`)
        isRefusal(await server.get(`/Passage?$filter="embedding > :1"&$params='${params}'`), expected, json)
        const deleted = await server.post(`/Passage?$filter="embedding > :1"&$method=delete&$params='${params}'`)
        isRefusal(deleted, expected, json)
      }
      t.ok(await isAnswering(), 'the next request is answered')
    }

    for (const text of TEXTS) {
      const params = encodeURIComponent(text)
      const answer = await server.get(`/Passage?$filter="embedding > :1"&$params='${params}'`)
      t.equal(answer.status, 400, `${text.slice(0, 80)}: ${answer.text.slice(0, 300)}`)
      t.match(answer.json?.__ERROR?.[0], { errCode: Number, message: String })
      t.ok(await isAnswering(), 'the next request is answered')
    }

    for (const [json, received] of VECTORS) {
      const expected = { status: 422, errCode: 1508, message: [received, /an array of 3 numbers is expected/] }
      for (const body of [`{"ID":50,"embedding":${json}}`, `{"__KEY":"1","__STAMP":1,"page":9,"embedding":${json}}`]) {
        isRefusal(await server.post('/Passage?$method=update', body), expected, body)
      }
      const several = `{"__ENTITIES":[{"ID":51,"embedding":[1,0,0]},{"ID":52,"embedding":${json}}]}`
      const answer = await server.post('/Passage?$method=update&$atomic=true', several)
      t.ok(answer.status >= 400 && answer.status < 500, `${answer.status} ${answer.text.slice(0, 300)}`)
      t.equal((await server.get('/Passage(51)')).status, 404, 'nothing is applied in part')
      t.ok(await isAnswering(), 'the next request is answered')
    }
    t.match((await server.get('/Passage(1)')).json, { __STAMP: 1, page: 1, embedding: [1, 0, 0] })
    t.equal((await server.get('/Passage')).json.__COUNT, 7)
  })

  t.test(`unusual vectors that are valid, on ${transport}`, async t => {
    const server = await startServer(t, passages, { transport })
    for (const [json, keys] of [
      ['{"vector":[1,0,0],"threshold":1e308}', ''],
      ['{"vector":[1,0,0],"threshold":-1e308}', '1,2,3,4,7'],
      ['{"vector":[1,0,0],"threshold":1e-320}', '1,2,7'],
      ['{"vector":[1e38,0,0]}', '1,2,7'],
      ['{"vector":[3.4028234663852886e38,0,0]}', '1,2,7'],
      ['{"vector":[1e-45,0,0]}', '1,2,7'],
      ['{"vector":[1e-60,0,0]}', ''],
      ['{"vector":[0,0,0]}', ''],
      ['{"vector":[-0,-0,-0]}', ''],
      ['{"vector":[0,0,0],"threshold":null}', ''],
      ['{"vector":[0,0,0],"metric":"dot","threshold":-1}', '1,2,3,4,5,7'],
      ['{"vector":[1e-44,0,0],"metric":"dot","threshold":8e-45}', '1,7'],
      ['{"vector":[1e-44,0,0],"metric":"euclidean","threshold":0}', '1,2,3,4,5,7'],
      ['{"vector":[1e38,1e38,1e38],"metric":"dot","threshold":1e38}', '2,7'],
      ['{"vector":[1e38,0,0],"metric":"euclidean","threshold":1e308}', ''],
      ['{"vector":[1.0000000000000000000000000000001,0,0],"threshold":0.99}', '1'],
    ] as const) {
      for (const $exact of [false, true]) {
        const body = `{"$filter":"embedding > :1","$params":[${json}],"$exact":${$exact},"$orderby":"ID"}`
        const answer = await server.post('/Passage/ID/$query', body)
        t.equal(answer.status, 200, `${json} ${answer.text.slice(0, 300)}`)
        t.equal(answer.json?.__ENTITIES?.map(({ ID }: { ID: number }) => ID).join(), keys, json)
      }
    }
  })
}
