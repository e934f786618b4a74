/** Imports follow the directions in the tables of ARCHITECTURE.md. */
import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import t from 'tap'
import { type Source, sources } from '../support/checks/sources.ts'

interface Room {
  /** Folder, or a file that is a room of its own. */
  readonly path: string
  /** Rooms and files that it may import from, besides itself. */
  readonly imports: readonly string[]
}

const PRODUCT = /^(?:engine|kernel|plugins|config)\//
const ROW = /^\| `([\w/.-]+)` \| (.*) \|$/gm
const IMPORT = /(?:^|\n)(?:import|export)\s[^'"]*?from '(\.[^']+)'|\bimport\('(\.[^']+)'\)/g

/** Rows of the table in a section of ARCHITECTURE.md: the place in the first cell, and the second cell. */
function readTable(heading: string): { path: string; cell: string }[] {
  const text = readFileSync('ARCHITECTURE.md', 'utf8')
  const [section] = text.slice(text.indexOf(`## ${heading}\n`) + 1).split('\n## ')
  return [...section!.matchAll(ROW)].map(([, path, cell]) => ({ path: path!, cell: cell! }))
}

const namesIn = (cell: string): string[] => [...cell.matchAll(/`([\w/.-]+)`/g)].map(([, name]) => name!)

/** Rooms of the table, lowest first. */
const readRooms = (): Room[] =>
  readTable('Which way imports point').map(({ path, cell }) => ({ path, imports: namesIn(cell) }))

/** The room of a file. A room that contains rooms has no other folders, so that a new folder needs a row of its own. */
function roomOf(rooms: readonly Room[], file: string): Room | undefined {
  const hasRooms = (path: string): boolean => rooms.some(room => room.path.startsWith(`${path}/`))
  return rooms.find(({ path }) => dirname(file) === path || (file.startsWith(`${path}/`) && !hasRooms(path)))
}

/** True if a place is one of the rooms, or a file in one of them. */
const isIn = (rooms: readonly Room[], place: string): boolean =>
  place.endsWith('.ts') ? roomOf(rooms, place) !== undefined : rooms.some(({ path }) => path === place)

t.test('the imports of each room are those that ARCHITECTURE.md names', async t => {
  const rooms = readRooms()
  t.ok(rooms.length > 30, `${rooms.length} rooms in the table`)
  const wrong = rooms.flatMap(({ path, imports }, i) =>
    imports
      .filter(place => !isIn(rooms.slice(0, i), place))
      .map(place => `${path} names ${place}, which is not above it`),
  )
  const used = new Set<string>()
  for (const { path, text } of sources('.ts', '.tsx')) {
    if (!PRODUCT.test(path) || path.startsWith('engine/simd/assembly/')) continue
    const room = roomOf(rooms, path)
    if (!room) {
      wrong.push(`${path} is in no room of the table`)
      continue
    }
    for (const [, fixed, lazy] of text.matchAll(IMPORT)) {
      const target = normalize(join(dirname(path), (fixed ?? lazy)!))
      const targetRoom = roomOf(rooms, target)
      if (target === 'package.json' || targetRoom === room) continue
      // A named file counts alone; a room counts without the rooms inside it.
      const place = room.imports.find(place => place === target || place === targetRoom?.path)
      if (place) used.add(`${room.path} names ${place}`)
      else wrong.push(`${path} imports ${target}`)
    }
  }
  t.ok(used.size > 500, `${used.size} edges are used`)
  const named = rooms.flatMap(room => room.imports.map(place => `${room.path} names ${place}`))
  wrong.push(...named.filter(each => !used.has(each)).map(each => `${each} and does not use it`))
  t.same(wrong, [])
})

/** Files that must be loaded for a file: without imports of types, and without those that wait for a call. */
function valueImports({ path, text }: Source): string[] {
  return [...text.matchAll(VALUE_IMPORT)]
    .filter(([, names]) => !names || !/^\{(?:\s*type\s+[\w\s]+,?)*\s*\}$/.test(names.trim()))
    .map(([, , target]) => normalize(join(dirname(path), target!)))
}

const VALUE_IMPORT = /(?:^|\n)(?:import|export)\s(?!type\s)(?:([^'"]*?)\sfrom\s)?'(\.[^']+)'/g

/** Files that a file names, for values or for types alone. */
const allImports = ({ path, text }: Source): string[] =>
  [...text.matchAll(IMPORT)].flatMap(([, fixed]) => (fixed ? normalize(join(dirname(path), fixed)) : []))

/** Groups of files in which each file reaches all others. Tarjan's algorithm: the lowest file of a group is visited first. */
function circlesOf(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const lowest = new Map<string, number>()
  const open: string[] = []
  const circles: string[][] = []
  const visit = (file: string): number => {
    const known = lowest.get(file)
    if (known !== undefined) return known
    const number = lowest.size
    let low = number
    lowest.set(file, number)
    open.push(file)
    for (const target of graph.get(file) ?? []) low = Math.min(low, visit(target))
    lowest.set(file, low)
    if (low < number) return low
    const group = open.splice(open.indexOf(file))
    for (const each of group) lowest.set(each, Number.POSITIVE_INFINITY)
    if (group.length > 1 || graph.get(file)?.includes(file)) circles.push(group.sort())
    return Number.POSITIVE_INFINITY
  }
  for (const file of graph.keys()) visit(file)
  return circles
}

t.test('no file needs itself to be loaded', async t => {
  const files = sources('.ts', '.tsx').filter(({ path }) => /^(?:engine|kernel|plugins|config|bench)\//.test(path))
  const graph = new Map(files.map(file => [file.path, valueImports(file)]))
  const edges = [...graph.values()].flat()
  t.ok(edges.length > 1000, `${edges.length} imports of values`)
  t.same(circlesOf(graph), [])
  const example = { a: ['b'], b: ['c', 'd'], c: ['a'], d: ['e', 'c'], e: ['e'], f: ['a'] }
  t.same(circlesOf(new Map(Object.entries(example))), [['e'], ['a', 'b', 'c', 'd']])
})

/** Groups of files whose types refer to each other. All other files can be read one after another. */
const CIRCLES = [
  // `Operator` is a union of all operators, and most operators have others as their input.
  /^engine\/query\/operators\//,
  // A dataclass has attributes, and each attribute names its dataclass.
  /^engine\/catalog\/(?:attribute|dataclass)\.ts$/,
  // Plugin code gets from an entity to its dataclass, to all others by `ds`, and back to entities. Each of these objects has a binding
  // with the language of its thread, which makes them. An interface of the language in a file below would list most of its members again.
  /^engine\/author\/data-api\//,
]

t.test('no file needs itself for its types, except in the known circles', async t => {
  const files = sources('.ts', '.tsx').filter(({ path }) => PRODUCT.test(path))
  const circles = circlesOf(new Map(files.map(file => [file.path, allImports(file)])))
  const found = circles.map(circle => CIRCLES.find(known => circle.every(path => known.test(path))) ?? circle)
  t.same(found.map(String).sort(), CIRCLES.map(String).sort())
})

t.test('LMDB and its tables are visible inside engine/storage alone, which knows no shared memory', async t => {
  const expected = readTable('Which files see LMDB').flatMap(({ path, cell }) =>
    namesIn(cell).map(importer => `${importer} imports ${path}`),
  )
  const found = new Set<string>()
  for (const { path, text } of sources('.ts', '.tsx', '.mjs')) {
    if (!PRODUCT.test(path)) continue
    const isInside = path.startsWith('engine/storage/')
    if (!isInside && /from 'lmdb\b|import\('lmdb\b/.test(text)) found.add(`${path} imports lmdb`)
    for (const [, fixed, lazy] of text.matchAll(IMPORT)) {
      const target = normalize(join(dirname(path), (fixed ?? lazy)!))
      if (target.startsWith(isInside ? 'engine/memory/' : 'engine/storage/')) found.add(`${path} imports ${target}`)
    }
  }
  t.same([...found].sort(), expected.sort())
})

t.test('no plugin imports another', async t => {
  const wrong: string[] = []
  for (const { path, text } of sources('.ts', '.tsx')) {
    const own = /^plugins\/(?:examples\/)?[\w-]+\//.exec(path)?.[0]
    if (own === undefined) continue
    for (const [, fixed, lazy] of text.matchAll(IMPORT)) {
      const target = normalize(join(dirname(path), (fixed ?? lazy)!))
      if (target.startsWith('plugins/') && !target.startsWith(own)) wrong.push(`${path} imports ${target}`)
    }
  }
  t.same(wrong, [])
})
