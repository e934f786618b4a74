/** Damage of a dump is found, wherever it is, and no store is made from it. */
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
import { gunzipSync, gzipSync } from 'node:zlib'
import t from 'tap'
import { type Random, randomOf } from '../support/base/random.ts'
import { isLong, seedOf, timeoutMs } from '../support/runner/rounds.ts'
import { dump, makeStore, restore } from './dump-calls.ts'

t.setTimeout(timeoutMs)

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
