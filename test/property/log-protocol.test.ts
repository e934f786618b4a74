/**
 * The protocol of the log on a simulated disk: syncs fail, records reach the disk although their append failed, and a crash leaves
 * each page in any version since the last sync. Whatever happens, what was acknowledged is there after a recovery, and what was refused
 * is not. Without any one of its rules, the protocol fails this.
 */
import t from 'tap'
import {
  CHECKPOINT_BYTES,
  type LogEffect,
  type LogEvent,
  type LogState,
  initialState,
  step,
} from '../../engine/log/protocol.ts'
import { type Random, randomOf } from '../support/base/random.ts'
import { isLong, timeoutMs } from '../support/runner/rounds.ts'

type Protocol = typeof step
/** Table of the pages of a commit: for each row the page that has it. */
type Table = readonly number[]
interface Version {
  readonly row: number
  readonly value: number
}
interface LogRecord {
  readonly number: number
  readonly row: number
  readonly value: number
}

const ROWS = 4
const PAGES = 14

/** The data file: pages in versions since the last sync. A commit writes to pages that no kept state has. */
class DataFile {
  /** The first version of a page is the one that is surely on the disk. */
  readonly pages: Version[][] = Array.from({ length: PAGES }, () => [{ row: -1, value: 0 }])
  table: Table = []
  readonly kept = new Set<Table>()

  constructor(values: readonly number[]) {
    this.table = values.map((value, row) => {
      this.pages[row] = [{ row, value }]
      return row
    })
  }

  /** @returns false if there is no free page */
  put(row: number, value: number): boolean {
    const used = new Set([this.table, ...this.kept].flat())
    const page = this.pages.findIndex((_, i) => !used.has(i))
    if (page < 0) return false
    this.pages[page]!.push({ row, value })
    this.table = this.table.map((old, other) => (other === row ? page : old))
    return true
  }

  /** Begins a sync. @returns a function that completes it: later versions may be on the disk by then, or not */
  begin(): () => void {
    const written = this.pages.map(versions => versions.at(-1)!)
    return () => {
      for (const [i, versions] of this.pages.entries()) versions.splice(0, Math.max(0, versions.indexOf(written[i]!)))
    }
  }

  /** A failed sync: the system drops versions that it could not write. */
  drop(random: Random): void {
    for (const versions of this.pages) if (random.chance(0.5)) versions.splice(1)
  }

  /** Version of a page after a crash. */
  survivor(random: Random, page: number): Version {
    return random.pick(this.pages[page]!)
  }
}

/** One run: random writes, checkpoints and failures, then a crash and a recovery. @returns what is wrong, or undefined */
function run(seed: number, protocol: Protocol): string | undefined {
  const random = randomOf(seed)
  const failureRate = random.pick([0, 0.02, 0.2])
  const isFailing = (): boolean => random.chance(failureRate)
  const initial = Array.from({ length: ROWS }, () => 0)
  const file = new DataFile(initial)
  let state: LogState = initialState(0)
  /** The log on the disk. A record that failed may be there as well. */
  let log: LogRecord[] = []
  let last = 0
  let checkpoint = { number: 0, table: file.table }
  file.kept.add(file.table)
  let next: typeof checkpoint | undefined
  let complete: (() => void) | undefined
  let isDue = false
  let firstNeeded = 1
  let record: LogRecord = { number: 0, row: 0, value: 0 }
  let answer: 'acknowledged' | 'refused' | undefined
  const acknowledged: LogRecord[] = []
  /** Record that could not be taken back. Its outcome is unknown until it is: a crash may keep it or lose it. */
  let unclear: LogRecord | undefined

  const perform = (effect: LogEffect): LogEvent['kind'] | undefined => {
    switch (effect) {
      case 'append':
        if (isFailing()) {
          if (random.chance(0.5)) log.push(record)
          last = record.number
          return 'appendFailed'
        }
        log = [...log.filter(({ number }) => number !== record.number), record]
        last = record.number
        return 'appended'
      case 'takeBack':
        if (isFailing()) {
          unclear ??= record
          return 'takeBackFailed'
        }
        unclear = undefined
        log = log.filter(({ number }) => number !== last)
        return 'takenBack'
      case 'commit':
        if (isFailing() || !file.put(record.row, record.value)) return 'commitFailed'
        return 'committed'
      case 'refuse':
        answer = 'refused'
        return
      case 'acknowledge':
        answer = 'acknowledged'
        return
      case 'wait':
        if (isFailing()) return 'waitFailed'
        file.begin()()
        return
      case 'pin':
        next = { number: state.committed, table: file.table }
        file.kept.add(file.table)
        return
      case 'sync':
        complete = file.begin()
        return
      case 'save':
        if (isFailing()) return 'saveFailed'
        checkpoint = next!
        return 'saved'
      case 'release':
      case 'unpin': {
        // Only the newest checkpoint stays, with the records after it.
        next = undefined
        for (const table of file.kept) if (table !== checkpoint.table) file.kept.delete(table)
        if (effect === 'release') firstNeeded = state.checkpoint + 1
        log = log.filter(({ number }) => number >= firstNeeded)
        return
      }
      case 'schedule':
        isDue = true
    }
  }
  const advance = (event: LogEvent): void => {
    const [after, effects] = protocol(state, event)
    state = after
    for (const effect of effects) {
      const reported = perform(effect)
      if (!reported) continue
      advance({ kind: reported } as LogEvent)
      if (reported.endsWith('Failed')) return
    }
  }

  const steps = random.integer(1, 40)
  for (let i = 0; i < steps; i++) {
    if (complete && random.chance(0.4)) {
      const sync = complete
      complete = undefined
      const fails = isFailing()
      if (fails) file.drop(random)
      else sync()
      advance({ kind: fails ? 'syncFailed' : 'synced' })
    } else if (isDue && random.chance(0.2)) {
      isDue = false
      advance({ kind: 'due' })
    } else {
      record = { number: state.committed + 1, row: random.integer(0, ROWS - 1), value: i + 1 }
      answer = undefined
      advance({ kind: 'work', bytes: random.pick([1, CHECKPOINT_BYTES / 2, CHECKPOINT_BYTES, 9 * CHECKPOINT_BYTES]) })
      if (answer === undefined) return `write ${i} was not answered`
      if (answer === 'acknowledged') acknowledged.push(record)
    }
    if (random.chance(0.02)) break
  }

  // The crash. The checkpoint is read from what is left of the pages, then the records after it are applied.
  const values = checkpoint.table.map((page, row) => {
    const found = file.survivor(random, page)
    return found.row === row ? found.value : Number.NaN
  })
  const after = new Map(log.map(found => [found.number, found]))
  for (let number = checkpoint.number + 1; after.has(number); number++) {
    const { row, value } = after.get(number)!
    values[row] = value
  }
  const expected = [...initial]
  for (const { row, value } of acknowledged) expected[row] = value
  if (values.join() === expected.join()) return undefined
  if (unclear) expected[unclear.row] = unclear.value
  return values.join() === expected.join() ? undefined : `found ${values}, expected ${expected}`
}

t.setTimeout(timeoutMs)
const SEEDS = isLong ? 20_000 : 2_000

t.test(`${SEEDS} runs lose nothing that was acknowledged, and keep nothing that was refused`, async t => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const problem = run(seed, step)
    if (problem) return t.fail(`seed ${seed}: ${problem}`)
  }
  t.pass()
})

const changed =
  (
    kind: LogEvent['kind'],
    change: (state: LogState, effects: readonly LogEffect[]) => ReturnType<Protocol>,
  ): Protocol =>
  (state, event) => {
    const [after, effects] = step(state, event)
    return event.kind === kind ? change(after, effects) : [after, effects]
  }

const MUTANTS: Record<string, Protocol> = {
  'a failed record is not taken back': changed('appendFailed', (state, effects) => [
    { ...state, health: 'good' },
    effects.filter(effect => effect !== 'takeBack'),
  ]),
  'a record whose commit failed is not taken back': changed('commitFailed', (state, effects) => [
    { ...state, health: 'good' },
    effects.filter(effect => effect !== 'takeBack'),
  ]),
  'a record that could not be taken back is forgotten': changed('takeBackFailed', (state, effects) => [
    { ...state, health: 'good' },
    effects,
  ]),
  'the transaction is committed without a record': changed('work', (state, effects) => [
    state,
    effects.map(effect => (effect === 'append' ? 'commit' : effect)),
  ]),
  'acknowledged before the commit': changed('appended', state => [state, ['acknowledge']]),
  'the checkpoint is saved before the sync': (state, event) => {
    const [after, effects] = step(state, event)
    return [after, effects.flatMap(effect => (effect === 'sync' ? ['save'] : effect))]
  },
  'the pages of the checkpoint before are released too early': (state, event) => {
    const [after, effects] = step(state, event)
    return [after, effects.flatMap(effect => (effect === 'sync' ? ['release', 'sync'] : effect))]
  },
  'records are removed before the checkpoint is saved': changed('synced', state => [
    { ...state, checkpoint: state.making ?? state.checkpoint },
    ['release', 'save'],
  ]),
  'writes go on after a failed sync': changed('syncFailed', (state, effects) => [
    { ...state, health: 'good' },
    effects,
  ]),
  'a failed checkpoint is taken for a good one': (state, event) =>
    step(state, event.kind === 'saveFailed' ? { kind: 'saved' } : event),
  'a failed sync is taken for a good one': (state, event) =>
    step(state, event.kind === 'syncFailed' ? { kind: 'synced' } : event),
}

for (const [name, mutant] of Object.entries(MUTANTS)) {
  t.test(`found: ${name}`, async t => {
    for (let seed = 1; seed <= 20_000; seed++) {
      try {
        if (run(seed, mutant)) return t.pass(`by seed ${seed}`)
      } catch {
        return t.pass(`by seed ${seed}`)
      }
    }
    t.fail('no seed finds it')
  })
}
