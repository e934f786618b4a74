/**
 * A calculated attribute that returns the value of another attribute is found, sorted and aggregated like that one, stored or
 * not, through an alias or not: random conditions over either have the same answer. Other tests compare storage attributes
 * with the reference.
 */
import t from 'tap'
import { company } from '../support/fixtures/company.ts'
import { type Random, randomOf } from '../support/base/random.ts'
import { isLong, longCount, seeds, timeoutMs } from '../support/runner/rounds.ts'
import { startServer, type TestServer } from '../support/servers/test-server.ts'
import { mirroredPlugin } from '../support/plugins/test-plugins.ts'

const ROUNDS = isLong ? longCount(9) : 2
const QUERIES = isLong ? 300 : 120

const VALUES: Readonly<Record<string, readonly string[]>> = {
  ID: ['1', '3', '2.5', '6', '-1'],
  firstName: ['ada', '"A@"', 'Émile', '"@a@"', 'kurt', 'x'],
  salary: ['45000', '0', '90000.5', '120000'],
  woman: ['true', 'false'],
  birthDate: ['"1985-12-10T08:30:00Z"', '"1980-01-01"'],
  hired: ['"2020-02-29"', '"2012-06-15"', '"1.3.2005"'],
  dailyWork: ['28800000', '0', '3600001'],
}
const NAMES = Object.keys(VALUES)
const MIRRORS = ['live', 'stored', 'alias'] as const
const PATHS = ['', '', '', 'manager.', 'directReports.', 'employer.staff.', 'manager.directReports.']

const mirrorOf = (kind: (typeof MIRRORS)[number], name: string): string =>
  `${kind}${name[0]!.toUpperCase()}${name.slice(1)}`

const model = structuredClone(company.model) as { dataClasses: { Employee: { attributes: Record<string, object> } } }
for (const name of NAMES) {
  model.dataClasses.Employee.attributes[mirrorOf('alias', name)] = { kind: 'alias', path: mirrorOf('live', name) }
}

/** A text in which the names of attributes can be replaced. */
type Text = (nameOf: (name: string) => string) => string

function randomTest(random: Random): Text {
  const path = random.pick(PATHS)
  const name = random.pick(NAMES)
  const isNull = random.chance(0.15)
  const comparator = random.pick(isNull || name === 'woman' ? ['=', '!='] : ['=', '!=', '<', '<=', '>', '>=', '==='])
  const value = isNull ? 'null' : random.pick(VALUES[name]!)
  const test: Text = nameOf => `${path}${nameOf(name)} ${comparator} ${value}`
  return random.chance(0.25) ? nameOf => `not(${test(nameOf)})` : test
}

function randomFilter(random: Random): Text {
  const first = randomTest(random)
  if (random.chance(0.5)) return first
  const second = randomTest(random)
  const operator = random.pick(['and', 'or', 'except'])
  return nameOf => `${first(nameOf)} ${operator} ${second(nameOf)}`
}

function randomOrder(random: Random): Text {
  const path = random.pick(['', '', 'manager.'])
  const name = random.pick(NAMES)
  const direction = random.pick(['', ' desc'])
  return nameOf => `${path}${nameOf(name)}${direction}, ID`
}

/** Parameters of all that is compared. */
function randomRead(random: Random): Text {
  const filter = randomFilter(random)
  const order = random.chance(0.5) ? randomOrder(random) : undefined
  const top = random.integer(1, 8)
  return nameOf => {
    const orderBy = order ? `&$orderby=${encodeURIComponent(order(nameOf))}` : ''
    return `$filter=${encodeURIComponent(filter(nameOf))}${orderBy}&$top=${top}`
  }
}

/** Keys and count, or the error. */
async function answer(server: TestServer, parameters: string): Promise<unknown> {
  const { json } = await server.get(`/Employee?${parameters}`)
  return json.__ERROR
    ? json.__ERROR.map(({ errCode }: { errCode: number }) => errCode)
    : { count: json.__COUNT, keys: json.__ENTITIES.map(({ __KEY }: { __KEY: string }) => __KEY) }
}

t.setTimeout(timeoutMs)
for (const seed of seeds(ROUNDS)) {
  t.test(`round ${seed}: calculated attributes answer like the attributes that they return`, async t => {
    const random = randomOf(seed)
    const config = { plugins: [mirroredPlugin], functions: { threads: 1 } }
    const server = await startServer(t, { ...company, model }, { config })
    for (let i = 0; i < QUERIES; i++) {
      const read = randomRead(random)
      const kind = random.pick(MIRRORS)
      const mirrored = read(name => mirrorOf(kind, name))
      const [expected, found] = await Promise.all([
        answer(
          server,
          read(name => name),
        ),
        answer(server, mirrored),
      ])
      if (JSON.stringify(found) !== JSON.stringify(expected)) t.same(found, expected, decodeURIComponent(mirrored))
    }
    for (const name of NAMES) {
      for (const what of ['?$compute=count', '?$compute=min', '?$compute=max', '?$compute=sum', '?$distinct=true']) {
        const { text: expected } = await server.get(`/Employee/${name}/${what}`)
        for (const kind of MIRRORS) {
          const mirror = mirrorOf(kind, name)
          const { text } = await server.get(`/Employee/${mirror}/${what}`)
          t.equal(text.replaceAll(mirror, name), expected, `${mirror} ${what}`)
        }
      }
    }
  })
}
