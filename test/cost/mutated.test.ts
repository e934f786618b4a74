/**
 * Requests assembled from pieces of real ones: none of them holds the kernel thread for long, none is an internal error, and
 * memory does not grow with their number. Usually some thousands, 1,000,000 in a long run.
 */
import t from 'tap'
import { type Random, randomOf } from '../support/base/random.ts'
import { isLong, longCount, seedOf, timeoutMs } from '../support/runner/rounds.ts'
import { BOUNDS, CostServer, MEASUREMENTS } from './cost-server.ts'
import { type Asked, waysIn } from './ways-in.ts'
import { type Cost, ROWS, shown } from './world.ts'

const COUNT = isLong ? longCount(1_000_000) : 1_200
const ROUNDS = isLong ? 100 : 10
/** Maximum growth of memory from the third tenth to the last one. */
const MOST_BYTES = 200 * 2 ** 20

t.setTimeout(isLong ? 4 * timeoutMs : timeoutMs)

const PATHS = [
  '/$catalog/$all',
  '/$catalog/City',
  '/City(1)/parent/children?$expand=parent&$orderby="name desc, ID"&$top=5',
  '/City?$filter="name = :1 and group > 3 or info.tags[] = \'t1\'"&$params=["item@",{"a":1}]&$limit=3',
  '/City/name,group?$compute=sum&$filter="parent.group in [1,2,3]"',
  '/City/group?$distinct=true&$skip=2',
  '/City?$method=entityset&$filter="ID < 20"&$timeout=10',
  '/City/$entityset/00000000000000000000000000000000?$logicOperator=AND&$otherCollection=1',
  '/City(3)/photo?$imageformat=best&$version=1&$expand=photo',
  '/City?$queryplan=true&$querypath=true&$filter="embedding > :1"&$params=[{"vector":[1,0,0],"threshold":0.5}]',
  '/$info/sessionInfo?$prettyprint=true',
  '/$directory/currentUser',
  '/$catalog/fine',
]
const BODIES = [
  '{"name":"a","notes":"b","info":{"tags":["x"]},"parentID":5}',
  '[{"__KEY":"5","__STAMP":1,"name":null},{"group":"7"}]',
  '{"__ENTITIES":[{"ID":9,"embedding":[1,2,3]}]}',
  '["x",{"__DATACLASS":"City","__ENTITY":true,"__KEY":"1"}]',
  '{"$filter":"name = :1","$params":["it@"],"$orderby":"group","$top":3}',
]
const PIECES = [
  ...`"'()[]{}<>=!%&|:;,.+-*/?@$_~# \n\t\0`,
  ...[
    '%22',
    '%27',
    '%C3',
    '%',
    '\\u0022',
    '\\ud800',
    'é',
    '😀',
    '\u0300',
    '$filter=',
    '$top=-1',
    '$skip=1e9',
    '$method=delete',
  ],
  ...[
    ' and ',
    ' not ',
    ' in ',
    ':1',
    'null',
    'true',
    '1e308',
    '-0',
    '__KEY',
    '__STAMP',
    '__proto__',
    'constructor',
    '$expand=',
  ],
]

function mutated(random: Random): Asked {
  const way = random.pick(waysIn)
  const { path, body, headers, method } = random.chance(0.5)
    ? { method: way.method, ...way.request(Math.min(way.max, random.pick([10, 100, 2_000]))) }
    : {
        path: random.pick(PATHS),
        body: random.chance(0.4) ? random.pick(BODIES) : undefined,
        headers: {},
        method: undefined,
      }
  const isEdited = !(body instanceof Uint8Array)
  return {
    method: random.chance(0.05) ? random.pick(['GET', 'POST', 'PUT', 'DELETE'] as const) : method,
    path: `/${encoded(edited(random, path)).replace(/^\/+/, '')}`,
    body: isEdited && body !== undefined ? edited(random, body) : body,
    headers: headers ?? {},
  }
}

function edited(random: Random, text: string): string {
  let result = text
  for (let left = random.integer(0, 4); left > 0; left--) {
    const at = random.integer(0, result.length)
    const end = random.integer(at, Math.min(result.length, at + 20))
    const piece = result.slice(at, end)
    const insert = random.pick([random.pick(PIECES), piece.repeat(random.integer(0, 30)), random.pick(BODIES)])
    result = result.slice(0, at) + insert + result.slice(random.chance(0.5) ? end : at)
  }
  return result.slice(0, 50_000)
}

/** Percent-encodes characters that HTTP clients refuse to send. */
const encoded = (path: string): string =>
  Buffer.from(path)
    .toString('latin1')
    .replace(/[^\x21-\x7e]|#/g, sign => `%${sign.charCodeAt(0).toString(16).padStart(2, '0')}`)

t.test('mutated requests', { skip: process.platform !== 'linux' && 'CPU of threads is read from /proc' }, async t => {
  const server = new CostServer(t.testdir({}))
  await server.start()
  t.teardown(() => server.end())
  const statuses = new Map<number, number>()
  const measured = (round: number) => {
    const random = randomOf(seedOf(3) + round)
    return server.measured(() =>
      server.inParallel(COUNT / ROUNDS, async () => {
        const status = await server.askFor(mutated(random))
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }),
    )
  }
  let early = 0
  for (let round = 0; round < ROUNDS; round++) {
    let cost = await measured(round)
    for (let again = 1; excessOf(cost, server) && again < MEASUREMENTS; again++) {
      t.comment(`round ${round}: ${excessOf(cost, server)}; measured again`)
      await server.measureUnit()
      cost = await measured(round)
    }
    t.notOk(excessOf(cost, server), `round ${round}: ${shown(cost)}, ${Math.round(cost.memory / 2 ** 20)} MiB`)
    if (round === ROUNDS / 5) early = cost.memory
    if (round === ROUNDS - 1)
      t.ok(cost.memory < early + MOST_BYTES, `memory grew from ${early} to ${cost.memory} bytes`)
    // Removes new entities, so that the store does not grow.
    await server.askFor({ path: `/City?$filter="ID>${ROWS}"&$method=delete`.replaceAll('"', '%22') })
  }
  t.same(server.failures.slice(0, 5), [], 'no internal error')
  t.comment(JSON.stringify(Object.fromEntries(statuses)))
})

/** Names the bound that is exceeded. One turn serves requests of all clients. */
function excessOf({ turn, writerWait }: Cost, server: CostServer): string | undefined {
  if (server.inUnits(turn) > 2 * BOUNDS.turn) return `a turn of ${server.inUnits(turn)} units`
  if (server.inUnits(writerWait) <= BOUNDS.writerWait) return undefined
  return `others wait for the writer for ${server.inUnits(writerWait)} units`
}
