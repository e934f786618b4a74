/**
 * The permission matrix through the tools of agents, against a separate evaluator: what a caller may not read is in no
 * description, answer or message, and naming it is answered, letter by letter, like naming something that does not exist.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { hashKey } from '../../kernel/auth/directory.ts'
import { type Agent, connect, ERAS, type ToolAnswer } from '../support/clients/mcp-client.ts'
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
import { startServer } from '../support/servers/test-server.ts'

t.setTimeout(timeoutMs)

interface Cell {
  readonly tool: string
  readonly input: object
  /** Codes of the first errors; empty: success. */
  readonly codes: readonly number[]
  /** A name that must be answered like one that does not exist. */
  readonly hidden?: string | undefined
}

/** Any outcome. */
const ANY = -1
const TEXTS = ['caption', 'motto', 'surname', 'teamTitle', 'wording']

function readCells(may: Evaluator): Cell[] {
  const cells: Cell[] = []
  for (const dataClass of CLASSES) {
    const isThere = may.dataClass('read', dataClass)
    const whole = isThere ? { codes: [] } : { codes: [1800], hidden: dataClass }
    const add = (tool: string, input: object, outcome: Omit<Cell, 'tool' | 'input'>) =>
      cells.push({ tool, input: { class: dataClass, ...input }, ...outcome })
    cells.push({ tool: 'describe', input: { class: [dataClass] }, ...whole })
    add('query', {}, whole)
    add('query', { filter: 'ID = :1', params: [1] }, whole)
    add('aggregate', { function: 'count' }, whole)
    for (const attribute of [...SCALARS[dataClass], ...RELATIONS[dataClass]]) {
      const isRelation = RELATIONS[dataClass].includes(attribute)
      const isShown = may.shows(dataClass, attribute)
      const named = !isThere ? whole : isShown ? { codes: [] } : { codes: [1500], hidden: attribute }
      add('query', { attributes: ['ID', attribute] }, named)
      add('query', { filter: `ID > 0 and ${attribute} != null` }, named)
      add('query', { filter: ':1 != null', params: [attribute] }, named)
      // Only texts contain words.
      const searched = isShown && isThere && !TEXTS.includes(attribute) ? { codes: [ANY] } : named
      add('search', { text: 'one', in: [attribute] }, searched)
      if (!isRelation) {
        add('query', { orderBy: `${attribute} desc` }, named)
        add('aggregate', { function: 'count', attribute }, named)
        add('aggregate', { function: 'values', attribute }, named)
      }
      const via = VIA[dataClass]
      if (!via || !may.dataClass('read', via.from) || !may.shows(via.from, via.relation)) continue
      const over = isShown ? { codes: [] } : { codes: [1500], hidden: attribute }
      const path = `${via.relation}.${attribute}`
      cells.push({ tool: 'query', input: { class: via.from, attributes: [path] }, ...over })
      cells.push({ tool: 'query', input: { class: via.from, filter: `${path} != null` }, ...over })
    }
  }
  return cells
}

/** Cells that need writing to be on. */
function writeCells(may: Evaluator): Cell[] {
  const cells: Cell[] = []
  for (const dataClass of CLASSES) {
    const [reads, creates, updates] = (['read', 'create', 'update'] as const).map(each =>
      may.dataClass(each, dataClass),
    )
    for (const attribute of SCALARS[dataClass]) {
      const value = VALUES[attribute]
      if (value === undefined || attribute === 'motto') continue
      const isShown = may.shows(dataClass, attribute)
      const isUnknown = !reads && !creates
      const updated = !isShown ? 1500 : !may.gives('update', dataClass, attribute) ? 1608 : 0
      const changed = isUnknown ? 1800 : !reads ? 1543 : !updates ? 1558 : updated
      const isNamed = reads ? isShown : may.attribute('create', dataClass, attribute)
      const given = !isNamed ? 1500 : !may.gives('create', dataClass, attribute) ? 1608 : 0
      const created = isUnknown ? 1800 : !creates ? 1559 : given
      const codesOf = (code: number): number[] => (code === 0 ? [] : [code])
      const add = (entity: object, code: number) =>
        cells.push({ tool: 'write', input: { class: dataClass, save: [entity], check: true }, codes: codesOf(code) })
      add({ __KEY: '1', __STAMP: 1, [attribute]: value }, changed)
      add({ [attribute]: value }, created)
    }
  }
  const call = (input: object, isThere: boolean, isAllowed: boolean, hidden?: string) =>
    cells.push({
      tool: 'call',
      input,
      codes: !isThere ? [1800] : isAllowed ? [] : [1561],
      hidden: isThere ? undefined : hidden,
    })
  const isPerson = may.dataClass('read', 'Person')
  const cheers = may.executes('method', 'Team', 'cheer')
  const isTeam = may.dataClass('read', 'Team') || may.dataClass('create', 'Team') || cheers
  call({ function: 'hello' }, true, may.executes('method', 'ds', 'hello'))
  call({ class: 'Team', function: 'cheer' }, isTeam, cheers, 'Team')
  call({ class: 'Person', key: '1', function: 'greet' }, isPerson, may.executes('method', 'Person', 'greet'), 'Person')
  call({ class: 'Person', function: 'crowd' }, isPerson, may.executes('method', 'Person', 'crowd'))
  call({ singleton: 'Bell', function: 'ring' }, true, may.executes('singletonMethod', 'Bell', 'ring'))
  return cells
}

/** @returns names of dataclasses and attributes that are visible, or that are not */
function namesOf(may: Evaluator, wanted: boolean): string[] {
  const attributes = CLASSES.flatMap(dataClass =>
    [...SCALARS[dataClass], ...RELATIONS[dataClass]].filter(
      name => (may.dataClass('read', dataClass) && may.shows(dataClass, name)) === wanted,
    ),
  )
  return [...CLASSES.filter(name => may.dataClass('read', name) === wanted), ...attributes]
}

const isIn = (text: string, name: string): boolean => new RegExp(`(?<![A-Za-z])${name}(?![A-Za-z])`).test(text)
const codesOf = ({ json }: ToolAnswer): number[] =>
  (json?.errors ?? []).map((each: { errCode?: number }) => each.errCode ?? 0)
/** A name that resembles no attribute and no dataclass. */
const nameless = (name: string): string => 'Q'.repeat(name.length)

/** @returns the problem with the answer */
async function problemOf(agent: Agent, cell: Cell, unseen: readonly string[]): Promise<string | undefined> {
  const { tool, input, codes, hidden } = cell
  const asked = JSON.stringify(input)
  const answer = await agent.call(tool, input)
  const where = `${tool} ${asked}`
  const isAsExpected = codes[0] === ANY || (answer.isError ? codesOf(answer)[0] === codes[0] : codes.length === 0)
  if (!isAsExpected) return `${where}: expected [${codes}], received ${answer.text.slice(0, 300)}`
  const told = unseen.find(name => !isIn(asked, name) && isIn(answer.text, name))
  if (told) return `${where}: tells of ${told}: ${answer.text.slice(0, 300)}`
  if (hidden === undefined) return undefined
  const replaced = (text: string): string => text.replaceAll(new RegExp(`\\b${hidden}\\b`, 'g'), nameless(hidden))
  const unknown = await agent.call(tool, JSON.parse(replaced(asked)))
  if (replaced(answer.text) === unknown.text) return undefined
  return `${where}: told apart from what does not exist: ${answer.text.slice(0, 300)} and ${unknown.text.slice(0, 300)}`
}

t.test('§P8.4 tools of agents follow the rules', async t => {
  const folder = temporaryFolder(t)
  const keys = PRINCIPALS.filter(({ key }) => key).map(({ name, key, privileges, roles }) => {
    return { name, hash: hashKey(key), privileges, roles }
  })
  writeFileSync(join(folder, 'tesser.directory.json'), JSON.stringify({ keys }))
  const config = { plugins: [matrixPlugin], mcp: { write: true } }
  const server = await startServer(t, { model, rows }, { folder, config })
  const agents = await Promise.all(
    PRINCIPALS.map(({ key }, i) => connect(t, server.url, { key, era: ERAS[i % ERAS.length]! })),
  )
  const problems: string[] = []
  let count = 0
  const worlds = seeds(isLong ? 20 : 3)
  for (const seed of worlds) {
    const random = randomOf(seed)
    const file = randomRoles(random)
    server.engine.permissions.replace(file)
    for (const [i, principal] of PRINCIPALS.entries()) {
      const may = new Evaluator(file, principal, FACTS)
      const seen = namesOf(may, true)
      // A name that is hidden in one dataclass and visible in another cannot be told apart.
      const unseen = namesOf(may, false).filter(name => !seen.includes(name))
      const agent = agents[i]!
      const { text } = await agent.call('describe')
      const told = unseen.filter(name => isIn(text, name))
      const missed = seen.filter(name => !isIn(text, name))
      if (told.length + missed.length > 0)
        problems.push(`seed ${seed}, ${principal.name}: describe tells of ${told}, not of ${missed}: ${text}`)
      const cells = [...random.some(readCells(may), 0.5), ...random.some(writeCells(may), 0.5)]
      const found = await Promise.all(cells.map(cell => problemOf(agent, cell, unseen)))
      problems.push(...found.flatMap(each => (each ? [`seed ${seed}, ${principal.name}: ${each}`] : [])))
      count += cells.length
    }
  }
  t.same(problems.slice(0, 20), [])
  t.ok(count >= 250 * worlds.length, `${count} cells`)
})
