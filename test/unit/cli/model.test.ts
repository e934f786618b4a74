/** `tesser model`. The structure was written for this test; its elements are those of structures that 4D 18 to 21 have written. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { outputUrl } from '../../../engine/base/output-root.ts'
import { loadModel } from '../../../engine/index.ts'
import { readXml } from '../../../kernel/cli/structure/read-xml.ts'
import { structureModel } from '../../../kernel/cli/structure/structure-model.ts'

const field = (id: string, name: string, type: number, more = '', inner = ''): string =>
  `<field name="${name}" uuid="${id}" type="${type}" ${more} id="1">${inner}</field>`
const table = (id: string, name: string, fields: string, key: string, more = '', inner = ''): string =>
  `<table name="${name}" uuid="${id}" ${more}>${fields}${key && `<primary_key field_name="x" field_uuid="${key}"/>`}${inner}</table>`
const ref = (id: string): string => `<field_ref uuid="${id}" name="x"><table_ref uuid="T" name="x"/></field_ref>`
const relation = (from: string, to: string, more: string): string =>
  `<relation uuid="R" state="1" ${more}><related_field kind="source">${ref(from)}</related_field>` +
  `<related_field kind="destination">${ref(to)}</related_field></relation>`
const index = (ids: string, more = ''): string =>
  `<index kind="regular" type="7" ${more}>${[...ids].map(id => ref(id).replace('"T"', '"P"')).join('')}</index>`
const base = (inner: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE base SYSTEM "http://www.4d.com/dtd/2007/base.dtd" >\n` +
  `<base name="Shop" uuid="B" collation_locale="en"><schema name="DEFAULT_SCHEMA"/>${inner}</base>`

const PERSON = [
  field('K', 'ID', 4, 'unique="true" autosequence="true" not_null="true"'),
  field('1', 'married', 1),
  field('2', 'Last Name', 10, 'limiting_length="40" never_null="true"'),
  field('3', 'size', 3),
  field('4', 'big', 5),
  field('5', 'pay', 6, 'not_null="true"'),
  field('6', 'born', 8),
  field('7', 'shift', 9),
  field(
    '8',
    'remark',
    10,
    'hide_in_REST="true"',
    '<field_extra multi_line="true"><tip><![CDATA[a <tip>]]></tip></field_extra>',
  ),
  field('9', 'photo', 12),
  field('a', 'contract', 18),
  field('b', 'info', 21, 'blob_switch_size="2147483647"'),
  field('c', 'meaning', 21, '', '<field_extra class_id="4D.Vector"/>'),
  field('d', 'token', 10, 'store_as_UUID="true" unique="true"'),
  field('e', 'old', 17),
  field('f', '__GlobalStamp', 5),
  field('g', 'company', 10, 'store_as_UUID="true"'),
  field('h', 'boss', 4),
  field('i', '2nd', 2),
  field('j', 'Last_Name', 14),
].join('')
const COMPANY = field('C', 'ID', 10, 'unique="true" autogenerate="true" store_as_UUID="true" not_null="true"')
const SHOP = base(
  [
    table('P', 'Person', PERSON, 'K'),
    table('O', 'Company', COMPANY, 'C', '', '<table_extra/>'),
    table('S', 'Secret', field('SK', 'ID', 4, 'hide_in_REST="true"'), 'SK', 'hide_in_REST="true"'),
    table('N', 'NoKey', field('N1', 'a', 4), ''),
    table('W', 'Thrown', field('W1', 'ID', 4), 'W1', '', '<table_extra trashed="true"/>'),
    table('D', '__DeletedRecords', field('D1', 'ID', 4), 'D1'),
    relation('g', 'C', 'name_Nto1="employer" name_1toN="staff" integrity="delete" foreign_key="false"'),
    relation('h', 'K', 'name_Nto1="manager" name_1toN="reports"'),
    relation('h', 'K', 'name_Nto1="second" name_1toN="others" integrity="reject"'),
    relation('h', '5', 'name_Nto1="odd" name_1toN="odds"'),
    relation('3', 'C', 'name_Nto1="mixed" name_1toN="mixes"'),
    relation('4', 'K', 'name_Nto1="" name_1toN=""'),
    relation('4', 'K', 'name_Nto1="pay" name_1toN="pays"'),
    relation('4', 'N1', 'name_Nto1="nothing" name_1toN=""'),
    index('2'),
    index('6', 'unique_keys="true"'),
    index('9'),
    index('23'),
    `<index kind="keywords" type="7">${ref('8')}</index>`,
    '<base_extra><journal_file journal_file_enabled="true"/></base_extra>',
  ].join('\n'),
)

t.test('a structure becomes a model, and what differs is said', async t => {
  const folder = t.testdir({ 'catalog.4DCatalog': SHOP })
  const notes: string[] = []
  const model = structureModel(readXml(join(folder, 'catalog.4DCatalog')), note => notes.push(note))
  loadModel(model)
  t.strictSame(model, {
    name: 'Shop',
    dataClasses: {
      Person: {
        key: 'ID',
        attributes: {
          ID: { type: 'long', autoFill: 'increment' },
          married: { type: 'bool' },
          Last_Name: { type: 'string', indexed: true, maxLength: 40 },
          size: { type: 'word' },
          big: { type: 'long64' },
          pay: { type: 'number', mandatory: true },
          born: { type: 'date', simpleDate: true, unique: true },
          shift: { type: 'duration' },
          remark: { type: 'string', multiLine: true, scope: 'private' },
          photo: { type: 'image' },
          contract: { type: 'blob' },
          info: { type: 'object' },
          meaning: { type: 'object' },
          token: { type: 'uuid', unique: true },
          company: { type: 'uuid' },
          boss: { type: 'long' },
          _2nd: { type: 'byte' },
          Last_Name_2: { type: 'string' },
          employer: {
            kind: 'relatedEntity',
            type: 'Company',
            foreignKey: 'company',
            inverseName: 'staff',
            onDelete: 'cascade',
          },
          manager: {
            kind: 'relatedEntity',
            type: 'Person',
            foreignKey: 'boss',
            inverseName: 'reports',
            onDelete: 'setNull',
          },
          reports: { kind: 'relatedEntities', type: 'PersonSelection', inverseName: 'manager' },
        },
      },
      Company: {
        key: 'ID',
        attributes: {
          ID: { type: 'uuid', autoFill: 'uuid' },
          staff: { kind: 'relatedEntities', type: 'PersonSelection', inverseName: 'employer' },
        },
      },
      Secret: { key: 'ID', scope: 'private', attributes: { ID: { type: 'long', scope: 'private' } } },
    },
  })
  t.matchOnlyStrict(notes, [
    'Person.Last Name is named Last_Name in the model',
    'Person.2nd is named _2nd in the model',
    'Person.Last_Name is named Last_Name_2 in the model',
    'Person.meaning has vectors: to search by them, give it the type "vector" and their "dimension"',
    'Person.old is left out: 17 is not a known type of field',
    'Person has an index over Last Name, size; only indexes of one field are kept',
    'NoKey is left out: a dataclass needs a primary key of one field, and it has none',
    '__DeletedRecords is left out: names that start with "__" are reserved for the protocol',
    'Person.odd is left out: it leads to Person.pay, which is not the primary key',
    'Person.without a name is left out: the relation to one has no name',
    'Person.pay is left out: a field has the same name',
    'Person.nothing is left out: one of its tables is left out',
    /^Person\.second is left out: .*boss/,
    /^Person\.mixed is left out: .*size/,
  ])
})

t.test('the command writes a file once, which the server takes', async t => {
  const cwd = t.testdir({ 'catalog.4DCatalog': SHOP })
  const program = fileURLToPath(outputUrl('kernel/cli/main.js'))
  const run = (...args: string[]) => spawnSync(process.execPath, [program, ...args], { cwd, encoding: 'utf8' })
  const written = run('model', 'catalog.4DCatalog', '--out', 'model.json')
  t.match(written, { status: 0, stdout: '', stderr: /Person\.old is left out/ })
  t.match(run('model', 'catalog.4DCatalog'), { status: 0, stdout: readFileSync(join(cwd, 'model.json'), 'utf8') })
  t.match(run('check', '--plan', '--model', 'model.json', '--data', 'store'), { status: 0 })
  t.match(run('model', 'catalog.4DCatalog', '--out', 'model.json'), {
    status: 1,
    stderr: /^tesser: model\.json exists already; name another file, or remove it\n$/m,
  })
})

const BOMB = `<!DOCTYPE base [<!ENTITY a "${'a'.repeat(50)}"><!ENTITY b "&a;&a;">]><base name="&b;"/>`
const REFUSED: readonly [name: string, content: string | Buffer, message: RegExp][] = [
  ['nothing', '', /is not XML: /],
  ['text', 'Person, Company', /is not XML: /],
  ['JSON', '{"name":"x"}', /is not XML: /],
  ['half a file', SHOP.slice(0, 500), /is not XML: /],
  ['other XML', '<svg/>', /it begins with <svg>; a structure of 4D begins with <base>/],
  ['no tables', base(''), /no table of the structure can be a dataclass/],
  ['a table without a name', base('<table uuid="1"/>'), /an element <table> has no name/],
  ['a field without a type', base('<table name="T"><field name="a"/></table>'), /an element <field> has no type/],
  ['entities', BOMB, /is not XML: Named entity isn't defined: &b;/],
  ['an external entity', '<!DOCTYPE b [<!ENTITY x SYSTEM "file:///etc/passwd">]><base name="&x;"/>', /is not XML/],
  ['deep elements', `${'<base>'.repeat(200_000)}`, /is not XML: /],
  ['bytes of no encoding', Buffer.from('<base name="\xe9"/>', 'latin1'), /cannot be read as utf-8/],
  ['an unknown encoding', '<?xml version="1.0" encoding="klingon"?><base/>', /cannot be read as klingon/],
]

for (const [name, content, message] of REFUSED) {
  t.test(`refused in one sentence: ${name}`, async t => {
    const folder = t.testdir({})
    const file = join(folder, 'x.4DCatalog')
    writeFileSync(file, content)
    let found: unknown
    try {
      structureModel(readXml(file), () => {})
    } catch (error) {
      found = error
    }
    t.match(found, { message })
    t.notMatch((found as Error).message, '\n')
    t.ok(existsSync(file))
  })
}

const MANY: readonly [name: string, bytes: Buffer][] = [
  ['UTF-8 with a byte order mark', Buffer.from(`\uFEFF${SHOP.replaceAll('married', 'größe')}`)],
  ['UTF-16', Buffer.from(`\uFEFF${SHOP.replaceAll('married', 'größe').replace('UTF-8', 'UTF-16')}`, 'utf16le')],
  ['Latin-1', Buffer.from(SHOP.replaceAll('married', 'größe').replace('UTF-8', 'ISO-8859-1'), 'latin1')],
]
for (const [name, bytes] of MANY) {
  t.test(`read: ${name}`, async t => {
    const file = join(t.testdir({}), 'x.4DCatalog')
    writeFileSync(file, bytes)
    t.match(structureModel(readXml(file), () => {}).dataClasses, {
      Person: { attributes: { größe: { type: 'bool' } } },
    })
  })
}
