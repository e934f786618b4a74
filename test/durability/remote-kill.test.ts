/**
 * A database that is killed amid saves, deletions and transactions: nothing acknowledged is lost, nothing is half made, and an error says
 * whether the change may have been made. Skipped where PostgreSQL is not installed.
 */
import t, { type Test } from 'tap'
import { MortalPostgres } from '../support/databases/mortal-postgres.ts'
import { isLong, timeoutMs } from '../support/runner/rounds.ts'
import { startServer, type TestAnswer, type TestServer } from '../support/servers/test-server.ts'
import { until } from '../support/base/until.ts'

const MODEL = {
  name: 'bank',
  dataClasses: {
    Account: {
      storage: { postgres: 'bank', owned: true },
      key: 'ID',
      attributes: { ID: { type: 'long' }, saves: { type: 'long' } },
    },
  },
}

const KILLS = isLong ? 20 : 3
const CLIENTS = 6
/** Number of acknowledged changes before each kill, in turn: each kill meets other changes. */
const ACKNOWLEDGED = [60, 97, 31]
/** Changes of a client in turn: first account of five, their number, and whether they are deleted. */
const TURN = [
  { first: 0, count: 1 },
  { first: 0, count: 1 },
  { first: 1, count: 4 },
  { first: 0, count: 5 },
  { first: 0, count: 1, isDeletion: true },
  { first: 0, count: 5 },
  { first: 1, count: 4, isDeletion: true },
]
const OUTCOME_UNKNOWN = 1046

/** Number of saves of each account, which is its stamp as well; undefined once it is deleted. */
type Accounts = Map<number, number | undefined>

/** Commits take longer than all else, so that kills meet them. In microseconds. */
const LONG_COMMITS = ['commit_delay = 30000', 'commit_siblings = 1']
const COMMITTING = `(SELECT count(*) > 1 FROM pg_stat_activity
  WHERE pid <> pg_backend_pid() AND state = 'active' AND query ~ '^(COMMIT|INSERT|UPDATE|DELETE)')`

const postgres = await MortalPostgres.start(LONG_COMMITS)
if (typeof postgres === 'string') t.comment(`skipped: ${postgres}`)
else {
  t.teardown(() => postgres.stop())
  t.setTimeout(timeoutMs)
  t.test('every acknowledged change survives SIGKILL of the database, and none is half made', t => run(t, postgres))
}

async function run(t: Test, postgres: MortalPostgres): Promise<void> {
  const config = { connections: { bank: { url: postgres.url, maxConnections: CLIENTS * 2 } } }
  const server = await startServer(t, { model: MODEL, rows: {} }, { setting: 'normal', config })
  const known: Accounts = new Map()
  const turns = new Array<number>(CLIENTS).fill(0)
  for (let kill = 0; kill < KILLS; kill++) {
    const open: Accounts[] = []
    let acknowledged = 0
    let killed: Promise<void> | undefined
    const client = async (id: number): Promise<void> => {
      for (;;) {
        const turn = turns[id]!++
        const changes = changesOf(id, turn, known)
        const answer = await send(server, turn, changes)
        if (answer.status === 200) {
          for (const [account, saves] of changes) known.set(account, saves)
          if (++acknowledged === ACKNOWLEDGED[kill % ACKNOWLEDGED.length]) killed = postgres.killWhen(COMMITTING)
          continue
        }
        t.ok(killed, `a change fails only after the kill: ${answer.text}`)
        if (codeOf(answer) === OUTCOME_UNKNOWN) open.push(changes)
        else t.match(answer, { status: 503, headers: { 'retry-after': /^\d+$/ } }, answer.text.slice(0, 300))
        return
      }
    }
    await Promise.all(turns.map((_, id) => client(id)))
    await killed
    await postgres.restart()
    t.ok(
      await until(async () => (await server.get('/Account?$top=1')).status === 200),
      `it is back after kill ${kill + 1}`,
    )
    const found = await accountsOf(server)
    for (const changes of open) {
      const made = [...changes].filter(([account, saves]) => found.get(account) === saves).length
      t.ok(made === 0 || made === changes.size, `an open change is made or not: ${made} of ${changes.size}`)
      if (made > 0) for (const [account, saves] of changes) known.set(account, saves)
    }
    const expected = [...known].filter(([, saves]) => saves !== undefined).sort(([a], [b]) => a - b)
    t.same([...found], expected, `kill ${kill + 1}: ${acknowledged} acknowledged changes, ${open.length} open`)
    // A client goes on with accounts of its own that no open change is about.
    for (let id = 0; id < CLIENTS; id++) turns[id] = Math.ceil(turns[id]! / TURN.length) * TURN.length
  }
}

/** Accounts of a change, as they are after it. */
function changesOf(id: number, turn: number, known: Accounts): Accounts {
  const { first, count, isDeletion } = TURN[turn % TURN.length]!
  const start = id * 1_000_000 + Math.floor(turn / TURN.length) * 5 + first
  const accounts = Array.from({ length: count }, (_, i) => start + i)
  return new Map(accounts.map(account => [account, isDeletion ? undefined : (known.get(account) ?? 0) + 1]))
}

function send(server: TestServer, turn: number, changes: Accounts): Promise<TestAnswer> {
  const accounts = [...changes.keys()]
  const atomic = accounts.length > 1 ? '&$atomic=true' : ''
  if (TURN[turn % TURN.length]!.isDeletion) {
    const filter = `ID >= ${accounts[0]} and ID <= ${accounts.at(-1)}`
    return server.post(
      atomic ? `/Account?$filter="${filter}"&$method=delete${atomic}` : `/Account(${accounts[0]})?$method=delete`,
    )
  }
  const body = [...changes].map(([ID, saves]) =>
    saves === 1 ? { ID, saves } : { __KEY: String(ID), __STAMP: saves! - 1, saves },
  )
  return server.post(`/Account?$method=update${atomic}`, atomic ? body : body[0])
}

const codeOf = ({ json }: TestAnswer): number => (json.__ERROR ?? json.__ENTITIES?.[0]?.__ERROR)?.[0]?.errCode

async function accountsOf(server: TestServer): Promise<Accounts> {
  const { json } = await server.get('/Account?$top=100000&$orderby=ID')
  const rows = json.__ENTITIES as { ID: number; saves: number; __STAMP: number }[]
  return new Map(rows.map(({ ID, saves, __STAMP }) => [ID, saves === __STAMP ? saves : Number.NaN]))
}
