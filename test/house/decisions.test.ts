/** Each decision has its own number, and names decisions that it replaces or that supersede it. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { sources } from './sources.ts'

const DECISION =
  /^- \*\*D(\d+)\*\* \((\d{4}-\d\d-\d\d), (accepted|rejected|accepted, replaces D\d+(?:, D\d+)*|superseded by D\d+)\) /
const NUMBER = /D(\d+)/g

const bullets = readFileSync('DECISIONS.md', 'utf8').match(/^- .*/gm)!
const decisions = bullets.map(bullet => DECISION.exec(bullet))

t.test('each has a number of its own, a date and a status', async t => {
  t.same(
    bullets.filter((_, i) => !decisions[i]),
    [],
  )
  const numbers = decisions.map(found => Number(found![1])).sort((a, b) => a - b)
  t.same(
    numbers.filter((number, i) => number === numbers[i - 1]),
    [],
  )
})

t.test('the table names the decisions of each room', async t => {
  const [head, ...rooms] = readFileSync('DECISIONS.md', 'utf8').split(/^## /m)
  const table = new Map([...head!.matchAll(/^\| \[(.+)\]\(.+\) \| (.+) \|$/gm)].map(([, room, list]) => [room!, list!]))
  t.equal(table.size, rooms.length)
  for (const room of rooms) {
    const [name] = room.split('\n')
    const numbers = [...room.matchAll(/^- \*\*D(\d+)\*\*/gm)].map(([, number]) => Number(number))
    const listed = (table.get(name!) ?? '').split(', ').flatMap(part => {
      const [first, last = first] = part.split(' to ').map(id => Number(id.slice(1)))
      return Array.from({ length: last! - first! + 1 }, (_, i) => first! + i)
    })
    t.same(
      listed,
      numbers.toSorted((a, b) => a - b),
      name!,
    )
  }
})

t.test('a decision that another replaces is superseded by it', async t => {
  const pairs = (word: string, order: (id: string, other: string) => string): string[] =>
    decisions
      .filter(found => found![3]!.includes(word))
      .flatMap(found => [...found![3]!.matchAll(NUMBER)].map(other => order(found![1]!, other[1]!)))
      .sort()
  t.same(
    pairs('superseded', (old, by) => `${by} replaces ${old}`),
    pairs('replaces', (by, old) => `${by} replaces ${old}`),
  )
})

t.test('references name existing decisions', async t => {
  const references = sources('.md', '.ts', '.tsx').flatMap(({ path, text }) =>
    [...text.matchAll(/`?DECISIONS(?:\.md)?`?(?:\]\([^)]*\))?,? ((?:D\d+(?:, | and )?)+)/g)].flatMap(([, list]) =>
      [...list!.matchAll(NUMBER)].map(([, number]) => ({ path, number: Number(number) })),
    ),
  )
  t.ok(references.length > 0)
  t.same(
    references.filter(({ number }) => !decisions.some(found => Number(found![1]) === number)),
    [],
  )
})
