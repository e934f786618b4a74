/**
 * A read sees all of a commit or none of it, while writers change what it reads.
 */
import t, { type Test } from 'tap'
import { setImmediate as turn } from 'node:timers/promises'
import { type Engine, openEngine } from '../../engine/index.ts'
import type { ReadRequest } from '../../engine/query/contract/request.ts'
import { engineOptions } from '../support/engine/engine-options.ts'
import { readJson, readRequest } from '../support/engine/read-request.ts'

const ACCOUNTS = 24
const BALANCE = 1_000
const model = {
  name: 'bank',
  dataClasses: {
    Account: {
      key: 'ID',
      attributes: {
        ID: { type: 'long', autoFill: 'increment' },
        balance: { type: 'number', indexed: true },
        round: { type: 'long', indexed: true },
        note: { type: 'string' },
        partnerID: { type: 'long' },
        partner: {
          kind: 'relatedEntity',
          type: 'Account',
          foreignKey: 'partnerID',
          inverseName: 'partners',
          onDelete: 'setNull',
        },
        partners: { kind: 'relatedEntities', type: 'Account', inverseName: 'partner' },
      },
    },
  },
}

/** Runs a test with reads in this thread, and again with reads in the pool. */
function test(name: string, work: (t: Test, engine: Engine) => Promise<void>): void {
  for (const [where, inlineCostMs] of [
    ['this thread', 1_000],
    ['the pool', 0],
  ] as const) {
    t.test(`${name}, read in ${where}`, async t => {
      const engine = await openBank(t.testdir({}), inlineCostMs)
      await work(t, engine).finally(() => engine.close())
    })
  }
}

interface Account {
  __KEY: string
  __STAMP: number
  balance: number
  round: number
}

test('the sum of all balances stays the same in every read while amounts move between accounts', async (t, engine) => {
  let isMoving = true
  let moved = 0
  const writers = Array.from({ length: 6 }, async (_, writer) => {
    for (let i = 0; i < 60; i++) {
      const from = 1 + ((writer * 7 + i * 5) % ACCOUNTS)
      const to = 1 + ((from + i) % ACCOUNTS)
      if (from === to) continue
      const source = { kind: 'keys', keys: [String(from), String(to)] } as const
      const [a, b] = (await read(engine, { source })) as [Account, Account]
      // Stamps may be stale when the writer checks them: then neither of the two is saved.
      const body = [changed(a, { balance: a.balance - i }), changed(b, { balance: b.balance + i })]
      if ((await save(engine, body)) === 200) moved++
    }
  })
  const done = Promise.all(writers).finally(() => {
    isMoving = false
  })
  let reads = 0
  const wrong: number[] = []
  while (isMoving) {
    const accounts = await read(engine, reads++ % 2 === 0 ? {} : { orderBy: 'balance desc, ID' })
    const sum = accounts.reduce((all, { balance }) => all + balance, 0)
    if (sum !== ACCOUNTS * BALANCE || accounts.length !== ACCOUNTS) wrong.push(sum)
    await turn()
  }
  await done
  t.same(wrong, [])
  t.ok(moved > 0 && reads > 0, `${moved} transfers, ${reads} reads`)
})

test('a read finds every entity of an atomic save or none, by scan, by index and through relations', async (t, engine) => {
  let round = 0
  let isWriting = true
  const rounds = 60
  const writer = (async () => {
    for (let i = 1; i <= rounds; i++) {
      const bodies = (await read(engine, {})).map(account => changed(account, { round: i }))
      // Now and then the last entity is wrong, and then none may be seen.
      if (i % 5 === 0) bodies[ACCOUNTS - 1] = { ...bodies[ACCOUNTS - 1], partnerID: -1, round: 1_000_000 }
      const status = await save(engine, bodies)
      if ((status === 200) === (i % 5 === 0)) throw new Error(`round ${i} answered ${status}`)
      round = status === 200 ? i : round
    }
  })().finally(() => {
    isWriting = false
  })
  const wrong: string[] = []
  while (isWriting) {
    const seen = (await read(engine, {}))[0]!.round
    const answers = [
      `round = ${seen}`,
      `round >= ${seen} and round <= ${seen}`,
      `partner.round = ${seen}`,
      `partners.round = ${seen} and round = ${seen}`,
    ].map(filter => read(engine, { filter }))
    const counts = (await Promise.all(answers)).map(found => found.length)
    // Reads in one turn may see different commits, but each sees only one.
    if (counts.some(count => count !== 0 && count !== ACCOUNTS)) wrong.push(`round ${seen}: ${counts}`)
    const rounds = new Set((await read(engine, {})).map(account => account.round))
    if (rounds.size !== 1) wrong.push(`rounds ${[...rounds]}`)
    await turn()
  }
  await writer
  t.same(wrong, [])
  t.equal((await read(engine, { filter: `round = ${round}` })).length, ACCOUNTS)
})

test('entities that are inserted or deleted together appear and vanish together', async (t, engine) => {
  let isWriting = true
  const writer = (async () => {
    for (let i = 0; i < 25; i++) {
      const body = Array.from({ length: 50 }, () => ({ balance: 1, round: 7, note: 'batch' }))
      if ((await save(engine, body)) !== 200) throw new Error('the batch was refused')
      await engine.saves.delete(request({ filter: 'note = batch' }), { atomic: true })
    }
  })().finally(() => {
    isWriting = false
  })
  const sizes = new Set<number>()
  while (isWriting) {
    sizes.add((await read(engine, { filter: 'note = batch' })).length)
    sizes.add((await read(engine, { filter: 'round = 7' })).length)
    sizes.add((await read(engine, {})).length - ACCOUNTS)
    await turn()
  }
  await writer
  t.same(
    [...sizes].filter(size => size !== 0 && size !== 50),
    [],
  )
})

/** An engine with some accounts, each of which is the partner of the one before. */
async function openBank(path: string, inlineCostMs: number): Promise<Engine> {
  const engine = await openEngine(engineOptions({ path, model, pool: { threads: 2, inlineCostMs } }))
  const accounts = Array.from({ length: ACCOUNTS }, (_, i) => ({
    ID: i + 1,
    balance: BALANCE,
    round: 0,
    note: 'first',
  }))
  await save(engine, accounts)
  await save(
    engine,
    (await read(engine, {})).map((account, i) => changed(account, { partnerID: ((i + 1) % ACCOUNTS) + 1 })),
  )
  return engine
}

const changed = ({ __KEY, __STAMP }: Account, values: object): Record<string, unknown> => ({
  __KEY,
  __STAMP,
  ...values,
})

async function save(engine: Engine, body: readonly object[]): Promise<number> {
  const request = {
    kind: 'save',
    dataClass: 'Account',
    body: Buffer.from(JSON.stringify(body)),
    mode: 'update',
    atomic: true,
  } as const
  return (await engine.saves.save(request, { form: 'entity' })).status
}

const request = (part: Partial<ReadRequest>): ReadRequest => readRequest('Account', 'balance,round', part)

const read = async (engine: Engine, part: Partial<ReadRequest>): Promise<Account[]> =>
  (await readJson(engine, request(part))).__ENTITIES
