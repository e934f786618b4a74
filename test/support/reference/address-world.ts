import type { Test } from 'tap'
import { insertRows, startServer, type TestServer } from '../servers/test-server.ts'
import type { SqlServer } from '../databases/sql-servers.ts'
import { addressedPlugin } from '../plugins/test-plugins.ts'
import { fold } from '../../../engine/base/text/fold.ts'
import type { Random } from '../base/random.ts'

/** An entity of the world. `n` tells it apart; its blob holds `n` as text. */
export interface Item {
  readonly ID: string
  readonly code: string
  readonly n: number
  readonly ownerID: string | null
}

/** Entities with keys and unique values that are alike, in the store or in PostgreSQL. */
export interface AddressWorld {
  readonly server: TestServer
  readonly items: readonly Item[]
  /** Keys of owners. */
  readonly owners: readonly string[]
  /** True if two keys are those of one entity, two unique values one value. */
  isSame(a: string, b: string): boolean
  /** Brings deleted items back. */
  restore(missing: readonly Item[]): Promise<void>
}

const BASES = ['a', 'é', 'Ab', 'q', 'ﬁn', 'x,y', 'Σ', 'it’s', '7', '{id}', ' ', '\t']

/** Other spellings of a text: most have the same fold. */
const VARIANTS: readonly ((text: string) => string)[] = [
  text => text.toUpperCase(),
  text => text.toLowerCase(),
  text => text.normalize('NFD'),
  text => text.normalize('NFKC'),
  text => text.replace(/[!-~]/g, sign => String.fromCharCode(sign.charCodeAt(0) + 0xfee0)),
  text => `${text}\u0301`,
  text => `${text} `,
  text => ` ${text}`,
  text => `"${text}"`,
  text => `'${text}'`,
  text => `"${text}`,
  text => `(${text})`,
  text => `[${text}]`,
  text => `${text}@`,
  text => `${text}/${text}`,
  text => `${text}%41`,
  text => `${text}+?#&=;$`,
  text => `$${text}`,
  text => `${text}",b`,
  text => `${text}\n`,
  text => `${text}\\~`,
  text => `..${text}`,
]

/** A text that is like many others. */
export function randomText(random: Random): string {
  let text = random.pick(BASES)
  for (let i = random.integer(0, 2); i > 0; i--) text = random.pick(VARIANTS)(text)
  return random.chance(0.02) ? '' : text
}

/** Texts of which no two are the same. */
function distinctTexts(random: Random, count: number, isSame: AddressWorld['isSame']): string[] {
  const texts: string[] = []
  while (texts.length < count) {
    // Rows that differ in nothing but the spelling of their texts.
    const known =
      texts.length > 0 && random.chance(0.6) ? random.pick(VARIANTS)(random.pick(texts)) : randomText(random)
    if (!texts.some(each => isSame(each, known))) texts.push(known)
  }
  return texts
}

const modelOf = (storage: (table: string) => object | undefined) => ({
  name: 'addresses',
  dataClasses: {
    Owner: {
      ...(storage('owner') && { storage: storage('owner') }),
      key: 'ID',
      attributes: {
        ID: { type: 'string' },
        items: { kind: 'relatedEntities', type: 'ItemSelection', inverseName: 'owner' },
      },
    },
    Item: {
      ...(storage('item') && { storage: storage('item') }),
      key: 'ID',
      attributes: {
        ID: { type: 'string' },
        code: { type: 'string', unique: true },
        n: { type: 'long' },
        note: { type: 'long' },
        data: { type: 'blob' },
        ownerID: { type: 'string' },
        owner: { kind: 'relatedEntity', type: 'Owner', foreignKey: 'ownerID' },
      },
    },
  },
})

const OWNERS = 6

function randomItems(random: Random, count: number, isSame: AddressWorld['isSame']) {
  const owners = distinctTexts(random, OWNERS, isSame)
  const codes = distinctTexts(random, count, isSame)
  const items = distinctTexts(random, count, isSame).map(
    (ID, i): Item => ({ ID, code: codes[i]!, n: i + 1, ownerID: random.chance(0.1) ? null : random.pick(owners) }),
  )
  return { owners, items }
}

const config = { plugins: [addressedPlugin] }

const stored = (items: readonly Item[]): object[] =>
  items.map(each => ({
    ...each,
    note: 0,
    data: `data:text/plain;base64,${Buffer.from(String(each.n)).toString('base64')}`,
  }))

/** A world in the store: no two keys have one fold. */
export async function storeWorld(t: Test, random: Random, count: number): Promise<AddressWorld> {
  const isSame = (a: string, b: string): boolean => fold(a) === fold(b)
  const { owners, items } = randomItems(random, count, isSame)
  const rows = { Owner: owners.map(ID => ({ ID })), Item: stored(items) }
  const server = await startServer(t, { model: modelOf(() => undefined), rows }, { config, setting: 'normal' })
  const restore = (missing: readonly Item[]): Promise<unknown> =>
    insertRows(server.engine.saves, 'Item', stored(missing))
  return { server, items, owners, isSame, restore: async missing => void (await restore(missing)) }
}

/** How the columns of texts are declared. */
const COLUMNS = ['text', 'varchar(60)', 'text COLLATE "C"', 'text COLLATE loose', 'citext']

/** A world in PostgreSQL. */
export async function databaseWorld(
  t: Test,
  random: Random,
  count: number,
  postgres: SqlServer,
): Promise<AddressWorld> {
  const schema = `world_${random.integer(1, 1e9)}`
  const [key, code] = [random.pick(COLUMNS), random.pick(COLUMNS)]
  t.comment(`keys ${key}, unique values ${code}`)
  // A column of its own equality holds fewer texts; so do all then.
  const isLoose = [key, code].some(each => /loose|citext/.test(each))
  const { owners, items } = randomItems(random, count, (a, b) =>
    isLoose ? fold(a) === fold(b) || isAlike(a, b) : a === b,
  )
  const tables = `SET search_path = "${schema}", public;
    CREATE TABLE owner ("ID" ${key} PRIMARY KEY);
    CREATE TABLE item ("ID" ${key} PRIMARY KEY, code ${code} UNIQUE, n int, note int, data bytea, "ownerID" ${key});
    INSERT INTO owner VALUES ${owners.map(each => `(${quoted(each)})`).join()};
    INSERT INTO item VALUES ${items.map(rowOf).join()};`
  await postgres.run(`CREATE SCHEMA "${schema}"; ${LOOSE} ${tables}`)
  const model = modelOf(table => ({ postgres: 'world', schema, table }))
  const connections = { world: { url: postgres.url } }
  const server = await startServer(t, { model, rows: {} }, { config: { ...config, connections }, setting: 'normal' })
  const restore = (missing: readonly Item[]): Promise<void> =>
    postgres.run(`INSERT INTO "${schema}".item VALUES ${missing.map(rowOf).join()}`)
  return { server, items, owners, isSame: (a, b) => a === b, restore }
}

/** Equality of the collation. */
const isAlike = (a: string, b: string): boolean => ALIKE.compare(a, b) === 0
const ALIKE = new Intl.Collator('und', { sensitivity: 'accent' })
const LOOSE = `CREATE EXTENSION IF NOT EXISTS citext SCHEMA public;
  CREATE COLLATION IF NOT EXISTS loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);`

const rowOf = ({ ID, code, n, ownerID }: Item): string =>
  `(${quoted(ID)}, ${quoted(code)}, ${n}, 0, convert_to('${n}', 'UTF8'), ${ownerID === null ? 'NULL' : quoted(ownerID)})`

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`
