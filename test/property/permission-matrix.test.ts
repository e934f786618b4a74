/**
 * Principals × resources × actions × ways in, over HTTP, against a separate evaluator. Each cell is one request; what a caller
 * may not read must be answered, letter by letter, like a name that does not exist.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { hashKey } from '../../kernel/auth/directory.ts'
import {
  CLASSES,
  FACTS,
  model,
  PRINCIPALS,
  randomRoles,
  RELATIONS,
  rows,
  SCALARS,
  VALUES,
  VIA,
} from '../support/reference/permission-world.ts'
import { Evaluator } from '../support/reference/permissions.ts'
import { randomOf } from '../support/base/random.ts'
import { isLong, seeds, timeoutMs } from '../support/runner/rounds.ts'
import { matrixPlugin } from '../support/plugins/test-plugins.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'
import {
  insertRows,
  startServer,
  type TestAnswer,
  type TestServer,
  transports,
} from '../support/servers/test-server.ts'

t.setTimeout(timeoutMs)

interface Cell {
  name: string
  method?: 'GET' | 'POST'
  path: string
  body?: unknown
  /** Codes of `__ERROR`; empty: success. */
  codes: readonly number[]
  /** A name that must be answered like one that does not exist. */
  hidden?: string | undefined
  /** Text that the answer must contain, or must not. */
  holds?: { text: string; is: boolean }
}

function readCells(may: Evaluator): Cell[] {
  const cells: Cell[] = []
  for (const dataClass of CLASSES) {
    const isThere = may.dataClass('read', dataClass)
    const gone = { codes: [1800], hidden: dataClass }
    for (const path of [
      '',
      '(1)',
      '(1,2)',
      '?$compute=count',
      '?$asArray=true',
      '?$method=entityset',
      '?$format=looker',
      '?$format=csv',
    ]) {
      cells.push({ name: `read ${path}`, path: `/${dataClass}${path}`, ...(isThere ? { codes: [] } : gone) })
    }
    cells.push({ name: 'describe', path: `/$catalog/${dataClass}`, ...(isThere ? { codes: [] } : gone) })
    const listed = { text: `"name":"${dataClass}"`, is: isThere }
    cells.push({ name: 'list', path: '/$catalog', codes: [], holds: listed })
    const via = VIA[dataClass]
    const isVia = via && may.dataClass('read', via.from) && may.shows(via.from, via.relation)
    for (const attribute of [...SCALARS[dataClass], ...RELATIONS[dataClass]]) {
      const isShown = may.shows(dataClass, attribute)
      const isRelation = RELATIONS[dataClass].includes(attribute)
      const named = (codes: readonly number[]) =>
        !isThere ? gone : isShown ? { codes: [] } : { codes, hidden: attribute }
      const add = (name: string, path: string, codes: readonly number[]) =>
        cells.push({ name: `${name} of ${attribute}`, path: `/${dataClass}${path}`, ...named(codes) })
      add('path list', `/${attribute}`, [1500, 1804])
      add('path list of one', `(1)/${attribute}`, [1500, 1804])
      add('$attributes', `?$attributes=ID,${attribute}`, [1500, 1804])
      add('filter', `?$filter="${attribute} != null"`, [1500])
      add('negated filter', `?$filter="not(ID > 1 and ${attribute} = null)"`, [1500])
      add('path of a placeholder', `?$filter=":1 != null"&$params=["${attribute}"]`, [1500])
      if (isRelation) add('expand', `?$expand=${attribute}`, [1500, 1805])
      else {
        add('order', `?$orderby="${attribute} desc"`, [1500, 1810])
        add('order in the filter', `?$filter="ID > 0 order by ${attribute}"`, [1500, 1810])
        add('compute', `/${attribute}?$compute=count`, [1500, 1804])
        add('distinct', `/${attribute}?$distinct=true`, [1500, 1804])
        add('plan', `?$filter="${attribute} != null"&$queryplan=true&$querypath=true`, [1500])
        if (isThere && !isShown) add('address', `:${attribute}(1)`, [1500])
      }
      if (isThere) {
        const holds = { text: `"${attribute}":`, is: isShown }
        const isLink = isRelation
        cells.push({ name: `whole with ${attribute}`, path: `/${dataClass}(1)`, codes: [], holds })
        if (!isLink)
          cells.push({ name: `array with ${attribute}`, path: `/${dataClass}?$asArray=true`, codes: [], holds })
        const described = { text: `"name":"${attribute}"`, is: isShown }
        cells.push({ name: `catalog of ${attribute}`, path: `/$catalog/${dataClass}`, codes: [], holds: described })
      }
      if (!via || !isVia) continue
      const over = (name: string, path: string, codes: readonly number[]) =>
        cells.push({
          name: `${name} of ${via.relation}.${attribute}`,
          path: `/${via.from}${path}`,
          ...(isShown ? { codes: [] } : { codes, hidden: attribute }),
        })
      over('related list', `?$attributes=${via.relation}.${attribute}`, [1500, 1804])
      over('related filter', `?$filter="${via.relation}.${attribute} != null"`, [1500])
      if (!isRelation) over('related order', `?$orderby=${via.relation}.${attribute}`, [1500, 1810])
      const holds = { text: `"${attribute}":`, is: isShown }
      cells.push({
        name: `expanded with ${attribute}`,
        path: `/${via.from}(1)?$expand=${via.relation}`,
        codes: [],
        holds,
      })
    }
  }
  return cells
}

function writeCells(may: Evaluator): Cell[] {
  const cells: Cell[] = []
  for (const dataClass of CLASSES) {
    const [reads, creates, updates] = (['read', 'create', 'update'] as const).map(action =>
      may.dataClass(action, dataClass),
    )
    const isCalled = dataClass === 'Team' && may.executes('method', 'Team', 'cheer')
    const add = (name: string, values: object, codes: readonly number[]) => {
      const path = `/${dataClass}?$method=update&$refresh=true`
      cells.push({ name, method: 'POST', path, body: values, codes })
    }
    for (const attribute of SCALARS[dataClass]) {
      if (VALUES[attribute] === undefined) continue
      const isShown = may.shows(dataClass, attribute)
      const updated = !isShown ? [1500, 1517] : !may.gives('update', dataClass, attribute) ? [1608, 1517] : []
      const isUnknown = !reads && !creates
      add(
        `update of ${attribute}`,
        { __KEY: '1', __STAMP: 1, [attribute]: VALUES[attribute] },
        isUnknown ? [1800] : !reads ? [1543, 1517] : updates ? updated : [1558, 1517],
      )
      // Without read access to the dataclass, attributes that may be given a value can be named, unless only others may give it.
      const isNamed = reads ? isShown : attribute !== 'motto' && may.attribute('create', dataClass, attribute)
      const created = !isNamed ? [1500, 1534] : !may.gives('create', dataClass, attribute) ? [1608, 1534] : []
      add(
        `create with ${attribute}`,
        { [attribute]: VALUES[attribute] },
        isUnknown ? [1800] : creates ? created : [1559, 1534],
      )
    }
    if (!reads && !creates && !isCalled) {
      cells.push({
        name: 'create unseen',
        method: 'POST',
        path: `/${dataClass}?$method=update`,
        body: {},
        codes: [1800],
        hidden: dataClass,
      })
    }
  }
  return cells
}

function callCells(may: Evaluator): Cell[] {
  const call = (path: string, isThere: boolean, isAllowed: boolean, hidden?: string): Cell => {
    const codes = !isThere ? [1800] : isAllowed ? [] : [1561]
    return { name: 'call', method: 'POST', path, codes, hidden: isThere ? undefined : hidden }
  }
  const isPerson = may.dataClass('read', 'Person')
  const cheers = may.executes('method', 'Team', 'cheer')
  const isTeam = may.dataClass('read', 'Team') || may.dataClass('create', 'Team') || cheers
  return [
    call('/$catalog/hello', true, may.executes('method', 'ds', 'hello')),
    call('/Team/cheer', isTeam, cheers, 'Team'),
    call('/Person(1)/greet', isPerson, may.executes('method', 'Person', 'greet'), 'Person'),
    call('/Person/crowd', isPerson, may.executes('method', 'Person', 'crowd')),
    call('/$singleton/Bell/ring', true, may.executes('singletonMethod', 'Bell', 'ring')),
  ]
}

const codesOf = (answer: TestAnswer): number[] =>
  (answer.json?.__ERROR ?? []).map((error: { errCode: number }) => error.errCode)
/** A name that resembles no attribute and no dataclass. */
const nobody = (name: string): string => 'Q'.repeat(name.length)

async function send(
  server: TestServer,
  { key }: { key: string },
  { method = 'GET', path, body }: Cell,
): Promise<TestAnswer> {
  return server.send(method, path, body, key ? { authorization: `Bearer ${key}` } : {})
}

/** @returns the problem with the answer */
async function problemOf(
  server: TestServer,
  principal: (typeof PRINCIPALS)[number],
  cell: Cell,
): Promise<string | undefined> {
  const answer = await send(server, principal, cell)
  const where = `${principal.name}: ${cell.name}: ${cell.path} ${JSON.stringify(cell.body ?? '')}`
  const { codes, hidden, holds } = cell
  const wanted = codes.length === 0 ? 200 : [1800, 1500, 1543].includes(codes[0]!) ? 404 : 401
  if (answer.status !== wanted || codesOf(answer).join() !== codes.join()) {
    return `${where}: expected ${wanted} [${codes}], found ${answer.status} ${answer.text.slice(0, 300)}`
  }
  if (holds && answer.text.includes(holds.text) !== holds.is)
    return `${where}: ${holds.is ? 'lacks' : 'shows'} ${holds.text}`
  if (hidden === undefined) return undefined
  const replaced = (text: string): string => text.replaceAll(new RegExp(`\\b${hidden}\\b`, 'g'), nobody(hidden))
  const unknown = await send(server, principal, { ...cell, path: replaced(cell.path) })
  if (replaced(answer.text) === unknown.text && answer.status === unknown.status) return undefined
  return `${where}: told apart from what does not exist: ${answer.text.slice(0, 300)} and ${unknown.text.slice(0, 300)}`
}

t.test('§P8.4 every cell of the matrix follows the rules', async t => {
  const folder = temporaryFolder(t)
  const keys = PRINCIPALS.filter(({ key }) => key).map(({ name, key, privileges, roles }) => ({
    name,
    hash: hashKey(key),
    privileges,
    roles,
  }))
  writeFileSync(join(folder, 'tesser.directory.json'), JSON.stringify({ keys }))
  const server = await startServer(
    t,
    { model, rows },
    { folder, transport: transports.at(-1)!, config: { plugins: [matrixPlugin] } },
  )
  let count = 0
  const problems: string[] = []
  const worlds = seeds(isLong ? 12 : 6)
  for (const seed of worlds) {
    const random = randomOf(seed)
    const file = randomRoles(random)
    server.engine.permissions.replace(file)
    for (const principal of PRINCIPALS) {
      const may = new Evaluator(file, principal, FACTS)
      const cells = [...random.some(readCells(may), 0.3), ...random.some(writeCells(may), 0.5), ...callCells(may)]
      const found = await Promise.all(cells.map(cell => problemOf(server, principal, cell)))
      count += cells.length
      problems.push(...found.flatMap(problem => (problem ? [`seed ${seed}: ${problem}`] : [])))
      problems.push(...(await dropProblems(server, principal, may)).map(problem => `seed ${seed}: ${problem}`))
      count += DROPS
    }
  }
  t.same(problems.slice(0, 20), [])
  t.ok(count >= (2_000 / 6) * worlds.length, `${count} cells`)
  t.comment(`${count} cells`)
})

/** Number of entities to delete: of each dataclass, one with a value and one without. */
const DROPS = 2 * CLASSES.length
let nextId = 1_000

async function dropProblems(
  server: TestServer,
  principal: (typeof PRINCIPALS)[number],
  may: Evaluator,
): Promise<string[]> {
  const problems: string[] = []
  for (const dataClass of CLASSES) {
    const attribute = SCALARS[dataClass][1]!
    for (const value of [null, 1]) {
      const ID = nextId++
      await insertRows(server.engine.saves, dataClass, [{ ID, [attribute]: value }])
      const holds = ['ID', ...(value === null ? [] : [attribute, ...(attribute === 'authorKey' ? ['writer'] : [])])]
      const isFree = holds.every(name => may.attribute('drop', dataClass, name))
      const codes = !may.dataClass('read', dataClass)
        ? [1800]
        : !may.dataClass('drop', dataClass)
          ? [1560]
          : isFree
            ? []
            : [1560, 1518]
      const path = `/${dataClass}(${ID})?$method=delete`
      const problem = await problemOf(server, principal, { name: 'drop', method: 'POST', path, codes })
      if (problem) problems.push(problem)
    }
  }
  return problems
}
