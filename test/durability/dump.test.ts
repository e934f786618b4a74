/** Dumps of a store that is being written to, and stores made from them: everything comes back, and damage is found. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync, gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { outputUrl } from '../../engine/base/output-root.ts'
import { undump } from '../../engine/storage/dump/undump.ts'
import { writeDump } from '../../engine/storage/dump/write-dump.ts'
import { type Random, randomOf } from '../support/reference/random.ts'
import { isLong, seedOf, timeoutMs } from '../support/reference/rounds.ts'
import { openTestStore } from '../unit/engine/write/test-store.ts'
import { contentOf, differences, MAP, model, valuesOf, writeSome } from './dump-world.ts'

t.setTimeout(timeoutMs)
const ISO = { dateOnlyFormat: 'iso' } as const
const DMY = { dateOnlyFormat: 'dmy' } as const

type DumpOptions = Parameters<typeof writeDump>[0]
type UndumpOptions = Parameters<typeof undump>[0]
const dump = (path: string, folder: string, more: Partial<DumpOptions> = {}) =>
  writeDump({ path, folder, ...MAP, version: 'test', ...more })
const restore = (folder: string, path: string, more: Partial<UndumpOptions> = {}) =>
  undump({ path, folder, ...MAP, wire: ISO, ...more })

/** A store with random entities, closed. */
async function makeStore(t: Test, path: string, seed: number, count = 400): Promise<void> {
  mkdirSync(path)
  const store = openTestStore(t, { model, path })
  writeSome(store, randomOf(seed), count)
  store.writer.run([{ kind: 'calculated', dataClass: 'Thing', rows: [], fingerprints: { score: 'code 1' } }])
  await store.close()
}

t.test('everything comes back as it was, table by table', async t => {
  const folder = t.testdir()
  const [path, other, again, place] = ['store', 'other', 'again', 'dump'].map(name => join(folder, name)) as string[]
  await makeStore(t, path!, seedOf(61), isLong ? 3_000 : 600)
  const content = await contentOf(path!)
  t.equal(content.get('problems'), '[]')
  t.ok(content.size > 60, `${content.size} entries`)
  const made = await dump(path!, place!)
  t.match(made, { stamp: Number(content.get('stamp')) })
  t.same(readdirSync(place!).sort(), ['blobs', 'data', 'dump.json', 'model.json'])
  t.notOk(existsSync(`${place}.part`))
  const found = await restore(place!, other!)
  t.match(found, { stamp: made.stamp })
  t.same(readdirSync(other!).sort(), ['data.mdb', 'files'])
  t.same(differences(content, await contentOf(other!)), [])
  // A dump of it has the same entities, byte by byte.
  await dump(other!, again!)
  for (const { name, parentPath } of readdirSync(join(place!, 'data'), { withFileTypes: true })) {
    const [a, b] = [join(parentPath, name), join(again!, 'data', name)].map(file =>
      gunzipSync(readFileSync(file)).toString().split('\n').sort(),
    )
    t.same(a, b, name)
  }
})

t.test('a store with the older form of dates comes back, in either form', async t => {
  const folder = t.testdir()
  const path = join(folder, 'store')
  mkdirSync(path)
  const store = openTestStore(t, { model, path, wire: DMY })
  writeSome(store, randomOf(seedOf(62)), 100)
  await store.close()
  const content = await contentOf(path)
  await dump(path, join(folder, 'dump'))
  t.match(gunzipSync(readFileSync(join(folder, 'dump/data/Place.ndjson.gz'))).toString(), /"founded":"-000044-03-15"/)
  await restore(join(folder, 'dump'), join(folder, 'same'), { wire: DMY })
  t.same(differences(content, await contentOf(join(folder, 'same'))), [])
})

t.test('a dump is of one commit, whatever is written meanwhile', async t => {
  const random = randomOf(seedOf(63))
  const folder = t.testdir()
  const [path, place, other] = [join(folder, 'store'), join(folder, 'dump'), join(folder, 'other')]
  await makeStore(t, path, seedOf(64))
  const content = await contentOf(path)
  const store = openTestStore(t, { model, path })
  let written = 0
  await dump(path, place, {
    onProgress({ what }) {
      if (what !== 'writing entities') return
      writeSome(store, random, 30)
      written++
    },
  })
  t.ok(written >= 4)
  const { stamp } = await restore(place, other)
  t.equal(String(stamp), content.get('stamp'))
  t.same(differences(content, await contentOf(other)), [])
  await store.close()
  t.not((await contentOf(path)).get('stamp'), content.get('stamp'))
})

t.test('writing goes on with the next numbers', async t => {
  const folder = t.testdir()
  const [path, other] = [join(folder, 'store'), join(folder, 'other')]
  await makeStore(t, path, seedOf(65))
  await dump(path, join(folder, 'dump'))
  await restore(join(folder, 'dump'), other)
  const answers = await Promise.all(
    [path, other].map(async each => {
      const store = openTestStore(t, { model, path: each })
      const { entity, codes } = store.one('Thing', { text: 'new', code: 'new', short: 'abc' })
      const { __KEY, __STAMP, ID } = entity
      const repeated = store.one('Thing', { code: 'NEW' }).codes
      writeSome(store, randomOf(7), 40)
      t.same(store.problems(), [])
      await store.close()
      return { __KEY, __STAMP, ID, codes, repeated }
    }),
  )
  t.same(answers[0], answers[1])
  t.same(answers[0]!.codes, [])
  t.not(answers[0]!.repeated.length, 0)
})

t.test('a kill leaves nothing in place, and the next attempt succeeds', async t => {
  const folder = t.testdir()
  const [path, place, other, dumped] = ['store', 'dump', 'other', 'dumped'].map(name => join(folder, name)) as string[]
  await makeStore(t, path!, seedOf(66), 150)
  await dump(path!, place!)
  const run = async (what: string, store: string, at: string, steps: number): Promise<unknown> => {
    const program = fileURLToPath(outputUrl('test/durability/dump.child.js'))
    const child = spawn(process.execPath, [program, what, store, at, String(steps)], { stdio: 'inherit' })
    const [code, signal] = await once(child, 'close')
    return code ?? signal
  }
  for (const steps of isLong ? [0, 1, 2, 3, 4, 5, 6] : [1, 4]) {
    t.equal(await run('dump', path!, dumped!, steps), 'SIGKILL')
    t.notOk(existsSync(dumped!), `dump, ${steps} steps`)
  }
  t.equal(await run('dump', path!, dumped!, 1e9), 0)
  for (const steps of isLong ? [0, 1, 2, 3, 4] : [0, 2]) {
    t.equal(await run('undump', other!, dumped!, steps), 'SIGKILL')
    t.notOk(existsSync(other!), `undump, ${steps} steps`)
  }
  t.equal(await run('undump', other!, dumped!, 1e9), 0)
  t.same(differences(await contentOf(path!), await contentOf(other!)), [])
})

t.test('damage is found, and leaves nothing behind', async t => {
  const random = randomOf(seedOf(67))
  const folder = t.testdir()
  const [path, place, damaged, other] = ['store', 'dump', 'damaged', 'other'].map(name =>
    join(folder, name),
  ) as string[]
  await makeStore(t, path!, seedOf(68), 150)
  await dump(path!, place!)
  const files = readdirSync(place!, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name).slice(place!.length + 1))
  const attempt = async (what: string, message: RegExp, change: () => void): Promise<void> => {
    rmSync(damaged!, { recursive: true, force: true })
    cpSync(place!, damaged!, { recursive: true })
    change()
    const error = await restore(damaged!, other!).catch((error: unknown) => error)
    t.match(error, { name: 'DumpError', message }, what)
    t.notOk(existsSync(other!), what)
    t.notOk(existsSync(`${other}.restoring`), what)
  }
  for (let i = 0; i < (isLong ? 300 : 24); i++) {
    const file = i < files.length ? files[i]! : random.pick(files)
    let what = ''
    await attempt(`damage ${i} of ${file}`, /./, () => {
      what = damage(random, join(damaged!, file))
    })
    if (what === '') t.fail('nothing was damaged')
  }
  const description = (change: (value: Record<string, unknown>) => void) => (): void => {
    const file = join(damaged!, 'dump.json')
    const { digest: _, ...value } = JSON.parse(readFileSync(file, 'utf8'))
    change(value)
    writeFileSync(file, JSON.stringify(value))
  }
  // biome-ignore lint/suspicious/noExplicitAny: damaged in any place
  const thing = (change: (value: any) => void) =>
    description(value => change((value.dataClasses as { Thing: unknown }).Thing))
  const lines = (edit: (text: string) => string | Buffer) => (): void => {
    thing(value => {
      value.files = [{ file: value.files[0].file }]
    })()
    const file = join(damaged!, 'data/Thing.ndjson.gz')
    writeFileSync(file, gzipSync(edit(gunzipSync(readFileSync(file)).toString()), { level: 1 }))
  }
  const blob = files.find(name => name.startsWith('blobs/'))!
  const cases: readonly (readonly [string, RegExp, () => void])[] = [
    [
      'an extra file',
      /do not belong to it; remove them:\n {2}- notes\.txt/,
      () => appendFileSync(join(damaged!, 'notes.txt'), 'x'),
    ],
    [
      'an extra data file',
      /- data\/Thing\.2\.ndjson/,
      () => appendFileSync(join(damaged!, 'data/Thing.2.ndjson'), '{}'),
    ],
    [
      'an extra blob',
      /images and blobs of \d+ bytes, its description says/,
      () => {
        mkdirSync(join(damaged!, 'blobs/00'), { recursive: true })
        appendFileSync(join(damaged!, `blobs/00/${'0'.repeat(64)}`), 'x')
      },
    ],
    [
      'a blob in another folder',
      /is not the name of an image or a blob/,
      () => renameSync(join(damaged!, blob), join(damaged!, 'blobs', '..', 'blobs', basename(join(blob, '..')), 'x')),
    ],
    [
      'a blob in place of another',
      /does not have the SHA-256 of its name|says/,
      () => writeFileSync(join(damaged!, blob), Buffer.alloc(statSync(join(damaged!, blob)).size, 0xee)),
    ],
    ['a newer form', /has form 2, of a newer version of Tesser/, description(value => (value.form = 2))],
    ['no form', /"form" is missing/, description(value => delete value.form)],
    ['an unknown member', /colour/, description(value => (value.colour = 'red'))],
    [
      'an edited description',
      /does not have its digest/,
      () => {
        const file = join(damaged!, 'dump.json')
        writeFileSync(file, readFileSync(file, 'utf8').replace('"globalStamp": ', '"globalStamp": 1'))
      },
    ],
    [
      'another data file',
      /expected a value such as "data\/Company\.ndjson\.gz"/,
      thing(value => (value.files[0].file = '../../etc/passwd')),
    ],
    [
      'a path that leads out',
      /expected a value such as/,
      thing(value => (value.files[0].file = 'data/../../x.ndjson')),
    ],
    [
      'a missing data file',
      /lacks files:\n {2}- data\/Thing\.7\.ndjson/,
      thing(value => value.files.push({ file: 'data/Thing.7.ndjson' })),
    ],
    ['too few entities', /has more entities of Thing, its description says 2/, thing(value => (value.entities = 2))],
    ['too many entities', /entities of Thing, its description says 99999/, thing(value => (value.entities = 99_999))],
    [
      'a lower stamp',
      /has the global stamp \d+, the description says 1/,
      description(value => (value.globalStamp = 1)),
    ],
    [
      'equal numbers of dataclasses',
      /tableNumbers/,
      description(value => {
        // biome-ignore lint/suspicious/noExplicitAny: damaged in any place
        for (const each of Object.values((value.tableNumbers as any).dataClasses) as any[]) each.tableNumber = 1
      }),
    ],
    [
      'a blob by a path',
      /an image or a blob is \{"sha256":…/,
      lines(text => text.replace(/"sha256":"[^"]*"/, '"sha256":"../../etc/passwd"')),
    ],
    [
      'a blob that is missing',
      /the file blobs\/00\/0+ is missing/,
      lines(text => text.replace(/"sha256":"[^"]*"/, `"sha256":"${'0'.repeat(64)}"`)),
    ],
    ['a line that is not JSON', /data\/Thing\.ndjson\.gz, line 1: /, lines(text => text.slice(1))],
    ['an empty line', /line 1: it is empty/, lines(text => `\n${text}`)],
    ['a text in place of an entity', /line 1: a line is a JSON object/, lines(text => `"x"\n${text}`)],
    [
      'an entity twice',
      /ID: another entity has the value "\d+", which is unique/,
      lines(text => text + text.split('\n')[0]),
    ],
    [
      'an entity without a key',
      /line 1: ID: an entity needs a key/,
      lines(text => text.replace(/"ID":\d+/, '"ID":null')),
    ],
    [
      'an unknown attribute',
      /line 1: there is no attribute txt in Thing; did you mean "text"\?/,
      lines(text => text.replace('"text":', '"txt":')),
    ],
    ['a wrong value', /line 1: .*byte/, lines(text => text.replace(/"byte":-?\d+/, '"byte":1000'))],
    ['a stamp of nothing', /__STAMP is a whole number/, lines(text => text.replace(/"__STAMP":\d+/, '"__STAMP":0'))],
    [
      'a time of no form',
      /__TIMESTAMP is a time/,
      lines(text => text.replace(/"__TIMESTAMP":"[^"]*"/, '"__TIMESTAMP":"yesterday"')),
    ],
    [
      'a foreign key that leads nowhere',
      /placeName: there is no entity "Atlantis" in Place/,
      lines(text => text.replace(/"placeName":(null|"[^"]*")/, '"placeName":"Atlantis"')),
    ],
    [
      'a foreign key in a circle that leads nowhere',
      /otherID: there is no entity "77777" in Thing/,
      lines(text => text.replace(/"otherID":(null|\d+)/, '"otherID":77777')),
    ],
    [
      'a link in place of a file',
      /is not a regular file/,
      () => {
        rmSync(join(damaged!, 'model.json'))
        symlinkSync('/etc/passwd', join(damaged!, 'model.json'))
      },
    ],
    [
      'a folder in place of a file',
      /is not a regular file|belong/,
      () => {
        rmSync(join(damaged!, 'data/Thing.ndjson.gz'))
        mkdirSync(join(damaged!, 'data/Thing.ndjson.gz'))
      },
    ],
    ['a file that unpacks to empty lines without end', /line 1: it is empty/, lines(() => Buffer.alloc(50e6, 0x0a))],
  ]
  const long: typeof cases = [
    [
      'a file that unpacks to a line without end',
      /line 1: it has more than 268435456 bytes/,
      lines(() => Buffer.alloc(300e6, 0x20)),
    ],
  ]
  for (const [what, message, change] of isLong ? [...cases, ...long] : cases) await attempt(what, message, change)
})

/** @returns what was done to the file */
function damage(random: Random, path: string): string {
  const { size } = statSync(path)
  const kind = size === 0 ? 'removed' : random.pick(['removed', 'cut', 'changed', 'changed', 'changed'])
  if (kind === 'removed') rmSync(path)
  else if (kind === 'cut') truncateSync(path, random.integer(0, size - 1))
  else {
    const bytes = readFileSync(path)
    const at = random.integer(0, size - 1)
    writeFileSync(path, bytes.with(at, bytes[at]! ^ (1 << random.integer(0, 7))))
  }
  return kind
}

t.test('folders that are in use, and those that have no dump, are refused', async t => {
  const folder = t.testdir({ full: { x: '' } })
  const path = join(folder, 'store')
  await makeStore(t, path, 1, 20)
  await t.rejects(dump(path, join(folder, 'full')), { name: 'DumpError', message: /full is not empty; name another/ })
  await t.rejects(dump(join(folder, 'none'), join(folder, 'd')), { message: /^there is no store in .*none$/ })
  await dump(path, join(folder, 'd'))
  await t.rejects(restore(join(folder, 'd'), path), { name: 'DumpError', message: /store is not empty/ })
  await t.rejects(restore(join(folder, 'none'), join(folder, 'o')), { message: /^there is no dump in .*none$/ })
  await t.rejects(restore(join(folder, 'full'), join(folder, 'o')), { message: /has no file dump\.json$/ })
  await t.rejects(restore(join(folder, 'full/x'), join(folder, 'o')), { message: /is a file; a dump is a folder$/ })
  t.same(readdirSync(folder).sort(), ['d', 'full', 'store'])
})

/** A dump as someone writes it by hand. */
const BY_HAND = {
  'dump.json': '{"form":1}',
  'model.json': JSON.stringify({
    name: 'by-hand',
    dataClasses: {
      Person: {
        key: 'ID',
        attributes: {
          ID: { type: 'long', autoFill: 'increment' },
          name: { type: 'string', maxLength: 3 },
          photo: { type: 'image' },
          paper: { type: 'blob' },
          bossID: { type: 'long' },
          boss: { kind: 'relatedEntity', type: 'Person', foreignKey: 'bossID' },
          cityName: { type: 'string' },
          city: { kind: 'relatedEntity', type: 'City', foreignKey: 'cityName' },
        },
      },
      City: {
        key: 'name',
        attributes: {
          name: { type: 'string' },
          mayorID: { type: 'long' },
          mayor: { kind: 'relatedEntity', type: 'Person', foreignKey: 'mayorID' },
        },
      },
      Nothing: { key: 'ID', attributes: { ID: { type: 'uuid' } } },
    },
  }),
  data: {
    'Person.ndjson': [
      '{"ID": 7, "name": "too long for its limit", "bossID": 9, "cityName": "köln"}\r',
      '{"ID":9,"photo":"data:image/png;base64,AAAA","paper":{"sha256":"2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"}}',
    ].join('\n'),
    'City.ndjson': '{"name":"Köln","mayorID":7,"__STAMP":5}\n',
  },
  blobs: { '2d': { '2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881': 'x' } },
}

t.test('a dump that is written by hand becomes a store', async t => {
  const folder = t.testdir({ hand: BY_HAND })
  const path = join(folder, 'store')
  const made = await restore(join(folder, 'hand'), path)
  t.same(made, { stamp: 3, entities: { Person: 2, City: 1, Nothing: 0 } })
  const store = openTestStore(t, { model: JSON.parse(BY_HAND['model.json']), path })
  t.same(store.problems(), [])
  const [first, second] = store.all('Person')
  t.match(first, { ID: 7, name: 'too long for its limit', bossID: 9, cityName: 'Köln', __STAMP: 1 })
  t.match(first, { city: { __deferred: { __KEY: 'Köln' } }, boss: { __deferred: { __KEY: '9' } } })
  t.match(second, { ID: 9, photo: { __deferred: { image: true } }, paper: { __deferred: {} }, name: null })
  t.match(store.all('City'), [{ name: 'Köln', mayorID: 7, __STAMP: 5, mayor: { __deferred: { __KEY: '7' } } }])
  t.equal(store.one('Person', { name: 'new' }).entity.ID, 10)
})

t.test('a dump becomes a store of another model', async t => {
  const folder = t.testdir({ hand: BY_HAND })
  const other = JSON.parse(BY_HAND['model.json'])
  const { Person, City } = other.dataClasses
  delete Person.attributes.photo
  delete Person.attributes.city
  delete Person.attributes.cityName
  delete Person.attributes.name
  Person.attributes.fullName = { type: 'string', indexed: true, formerName: 'name' }
  Person.attributes.added = { type: 'bool' }
  other.dataClasses = { Human: { ...Person, formerName: 'Person' }, City }
  Person.attributes.boss.type = 'Human'
  City.attributes.mayor.type = 'Human'
  const [hand, path] = [join(folder, 'hand'), join(folder, 'store')]
  await t.rejects(restore(hand, path, { model: other }), {
    name: 'DumpError',
    message:
      /does not have what the dump has:\n {2}- Person\.photo\n {2}- Person\.cityName\n {2}- the dataclass Nothing\n/,
  })
  await restore(hand, path, { model: other, leaveOutUnknown: true })
  const store = openTestStore(t, { model: other, path })
  t.same(store.problems(), [])
  t.match(store.all('Human'), [{ ID: 7, fullName: 'too long for its limit', added: null }, { ID: 9 }])
  await t.rejects(restore(hand, join(folder, 'x'), { model: { name: 'x' } }), { name: 'ModelError' })
})

t.test('dumps of form 1 stay readable', async t => {
  const path = join(t.testdir(), 'store')
  const fixture = 'test/support/fixtures/dump-form-1'
  const { stamp } = await restore(fixture, path)
  t.equal(stamp, JSON.parse(readFileSync(join(fixture, 'dump.json'), 'utf8')).globalStamp)
  const expected = JSON.parse(readFileSync(`${fixture}.json`, 'utf8'))
  t.equal(Object.keys(expected).length, 62)
  t.strictSame(JSON.parse(JSON.stringify(await valuesOf(path))), expected)
  t.equal((await contentOf(path)).get('problems'), '[]')
})
