import t from 'tap'
import { columnsOf, rowsByName, rowsWhere } from '../../../bench/world/columns.ts'
import { NAME_COUNT, namePrefix, syllableName } from '../../../bench/world/names.ts'
import { World } from '../../../bench/world/world.ts'

t.test('the same seed makes the same rows, another seed different ones', async t => {
  t.same(new World(1, 10_000).employee(77), new World(1, 10_000).employee(77))
  t.not(new World(2, 10_000).employee(77).salary, new World(1, 10_000).employee(77).salary)
})

t.test('a row is the same in a larger world, except for its last name', async t => {
  const small = new World(1, 10_000).employee(77)
  const large = new World(1, 20_000).employee(77)
  t.same({ ...small, lastName: '', email: '' }, { ...large, lastName: '', email: '' })
})

t.test('the columns are the attributes of the rows', async t => {
  const world = new World(3, 10_000)
  const { salary, birth, name, employer } = columnsOf(world)
  for (const row of [0, 1, 5_000, 9_999]) {
    const { lastName, ...employee } = world.employee(row)
    t.match(employee, {
      salary: salary[row],
      birthDate: new Date(birth[row]!).toISOString(),
      employerID: employer[row]! + 1,
    })
    t.equal(lastName, syllableName(name[row]!))
  }
})

t.test('a last name has about 50 employees', async t => {
  const world = new World(1, 10_000)
  const { name } = columnsOf(world)
  const hits = [0, 50, 100, 150].map(n => rowsWhere(world, row => name[row] === n).length)
  t.ok(
    hits.every(count => count > 20 && count < 100),
    hits.join(' '),
  )
})

t.test('names differ and are in alphabetical order', async t => {
  const names = Array.from({ length: NAME_COUNT }, (_, n) => syllableName(n))
  t.same(names.toSorted(), names)
  t.equal(new Set(names).size, NAME_COUNT)
})

t.test('a prefix matches two names', async t => {
  const prefix = namePrefix(10)
  const matching = Array.from({ length: NAME_COUNT }, (_, n) => n).filter(n => syllableName(n).startsWith(prefix))
  t.same(matching, [10, 11])
})

t.test('companies have different names', async t => {
  const world = new World(1, 10_000)
  t.equal(new Set(Array.from({ length: world.companies }, (_, row) => world.companyName(row))).size, world.companies)
})

t.test('rows by name are ordered by name, then by row', async t => {
  const world = new World(1, 10_000)
  const { name } = columnsOf(world)
  const expected = Array.from({ length: 10_000 }, (_, row) => row).sort((a, b) => name[a]! - name[b]! || a - b)
  t.same(rowsByName(world), expected)
})
