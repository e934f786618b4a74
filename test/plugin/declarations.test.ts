/** Declarations that have no effect stop the start, each with its line. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { loadConfig } from '../../config/load-config.ts'
import type { DeclarationError } from '../../engine/author/declare/check-declarations.ts'
import { check } from '../../kernel/cli/check.ts'
import { company } from '../support/fixtures/company.ts'
import { startServer } from '../support/servers/test-server.ts'
import { IMPORT, writePlugin } from './classes-plugin.ts'

const HEADS = {
  other: `export class CompanySelection extends EntitySelection('Company') {`,
  dataClass: `export class Employee extends DataClass('Employee') {`,
  entity: `export class EmployeeEntity extends Entity('Employee') {`,
  selection: `export class EmployeeSelection extends EntitySelection('Employee') {`,
  store: 'export class Store extends DataStore {',
}
/** A member of a class, its name unless only the class is named, and the problem that is reported; undefined: none. */
type Line = readonly [source: string, name?: string, problem?: string]

const synchronous = (what = 'asynchronous') =>
  `it is ${what}, but this event runs synchronously: nothing would wait for its result; only afterSave and afterDrop may wait`
const misplaced = (decorator: string, of: string, to: string) =>
  `${decorator} has no effect in a class that extends ${of}; it belongs in one that extends ${to}`
const hides = (name: string, hint = '; a field that only has a type is written with "declare"') =>
  `"${name}" is the name of an attribute of Employee, which it would hide${hint}`

const NAMELESS = 'its schema has to name it by a title that is an identifier, as Type.String({ title: "name" })'
/** Elements of the tuple, and the problem that is reported; undefined: none. */
const parameters: readonly [schemas: string, problem?: string][] = [
  [''],
  [`Type.String({ title: 'größe', format: 'email' }), Type.Optional(Type.Tuple([Type.Number()], { title: 'b' }))`],
  [`Type.Union([entityOf('Employee'), Type.Null()], { title: 'who' })`],
  ['Type.String()', `parameter 1: ${NAMELESS}`],
  [`Type.String({ title: 'a b' })`, `parameter 1, "a b": ${NAMELESS}`],
  [`Type.String({ title: 'a' }), Type.Number({ title: 'a' })`, 'parameter 2, "a": parameter 1 has this name too'],
  [
    `Type.Optional(Type.String({ title: 'a' })), Type.Number({ title: 'b' })`,
    'parameter 2, "b": it is needed, and comes after one that is optional',
  ],
  [`Type.Date({ title: 'a' })`, 'parameter 1, "a": a date is a text in JSON; use Type.String({ format: "date-time" })'],
  [
    `Type.Object({ n: Type.BigInt() }, { title: 'a' })`,
    'parameter 1, "a": JSON has no such integers; use Type.Integer() or Type.String()',
  ],
  [
    `Type.Recursive(self => Type.Object({ of: Type.Array(self) }), { title: 'a' })`,
    'parameter 1, "a": a schema that refers to itself or to another one is not supported',
  ],
  [
    `Type.String({ title: 'a', format: 'e-mail' })`,
    'parameter 1, "a": its schema cannot be used: unknown format "e-mail" ignored in schema at path "#"; the formats are date, time, date-time, duration, email, hostname, ipv4, ipv6, uri, uuid',
  ],
  [
    `Type.String({ title: 'a', minLenth: 1 })`,
    'parameter 1, "a": its schema cannot be used: strict mode: unknown keyword: "minLenth"',
  ],
  [
    `Type.String({ title: 'a', pattern: '(?=x)' })`,
    'parameter 1, "a": its schema cannot be used: error parsing regexp: invalid or unsupported Perl syntax: `(?=`',
  ],
  [
    `entityOf('Employe', { title: 'a' })`,
    'parameter 1, "a": there is no dataclass "Employe"; did you mean "Employee"?',
  ],
  [
    `Type.Array(selectionOf('Employee'), { title: 'a' })`,
    'parameter 1, "a": an entity or a selection of Employee cannot be inside of another value',
  ],
]

/** Members, one to a line. */
const members: Record<keyof typeof HEADS, readonly Line[]> = {
  other: [['@exposed fine() {}']],
  dataClass: [
    [`@event('restrict') mine() { return null }`],
    [
      `@event('restrict', 'salary') r1() { return null }`,
      'r1',
      `the event "restrict" does not belong to an attribute; use @event('restrict')`,
    ],
    [`@event('restrict') async r2() { return null }`, 'r2', synchronous()],
    ...['validateSave', 'saving', 'touched', 'validateDrop', 'afterSave', 'constructor'].map(
      (kind): Line => [
        `@event('${kind}') d_${kind}() {}`,
        `d_${kind}`,
        misplaced(`@event('${kind}')`, `DataClass('Employee')`, `Entity('Employee')`),
      ],
    ),
    [
      `@calculated({ type: 'string' }) get c() { return '' }`,
      'c',
      misplaced('@calculated', `DataClass('Employee')`, `Entity('Employee')`),
    ],
    ['@exposed *streamed() {}'],
    ['@onHTTPGet async *streamedLater() {}'],
    [
      '@exposed total() {}',
      undefined,
      '"total" is reached by no client, because EmployeeSelection has a function of this name',
    ],
    ['@exposed $f() {}', '$f', 'names in addresses that begin with "$" belong to the protocol'],
    ['@exposed({ deadlineSeconds: 0 }) f1() {}', 'f1', 'deadlineSeconds is 0; a number of seconds above 0 is expected'],
    [
      `@exposed({ deadlineSeconds: '2' as any }) f2() {}`,
      'f2',
      'deadlineSeconds is 2; a number of seconds above 0 is expected',
    ],
    ['@onHTTPGet firstName() {}', undefined, hides('firstName', '')],
    ...parameters.map(
      ([schemas, problem], i): Line => [
        `@exposed({ parameters: Type.Tuple([${schemas}]) as any }) p${i}(...given: any[]) {}`,
        `p${i}`,
        problem,
      ],
    ),
    [`@exposed({ result: selectionOf('Employee') }) r3(): any {}`],
    [
      `@exposed({ result: Type.Array(entityOf('Employee')) as any }) r4() {}`,
      'r4',
      'result: an entity or a selection of Employee cannot be inside of another value',
    ],
    [`@exposed({ description: 1 as any }) r5() {}`, 'r5', 'description is not a text'],
    ['@job async j1() {}'],
    ['@exposed @job j2() {}'],
    [`@schedule('* * * * *') @schedule('@daily') @job({ attempts: 3, backoffSeconds: 0.5 }) j3() {}`],
    ['@job *j4() {}', 'j4', 'it is a generator, but nothing reads what it yields'],
    ['@job({ attempts: 0 }) j5() {}', 'j5', 'attempts is 0; an integer above 0 is expected'],
    ['@job({ concurrency: 1.5 }) j6() {}', 'j6', 'concurrency is 1.5; an integer above 0 is expected'],
    ['@job({ backoffSeconds: NaN }) j7() {}', 'j7', 'backoffSeconds is NaN; a number of seconds above 0 is expected'],
    [`@schedule('@daily') j8() {}`, 'j8', '@schedule needs @job beside it'],
    [`@schedule(5 as any) @job j9() {}`, 'j9', 'the pattern of @schedule is a text; received 5'],
    [
      `@schedule('61 * * * *') @job j11() {}`,
      'j11',
      'the pattern "61 * * * *" cannot be read: Invalid value for minute: 61',
    ],
    [
      `@schedule('0 3 * * *', { timeZone: 'Europe/Rom' }) @job j12() {}`,
      'j12',
      'there is no time zone "Europe/Rom"; did you mean "Europe/Rome"?',
    ],
    [
      `@schedule('0 3 * * *', { timeZone: 'the moon' }) @job j13() {}`,
      'j13',
      'there is no time zone "the moon"; its name is one such as Europe/Rome',
    ],
    ['fine() {}'],
  ],
  selection: [
    ['@job j10() {}', 'j10', misplaced('@job', `EntitySelection('Employee')`, `DataClass('Employee')`)],
    [
      `@event('restrict') s1() { return null }`,
      's1',
      misplaced(`@event('restrict')`, `EntitySelection('Employee')`, `DataClass('Employee')`),
    ],
    [`@queryOf('fullName') s2() {}`, 's2', misplaced('@queryOf', `EntitySelection('Employee')`, `Entity('Employee')`)],
    ['@exposed salary() {}', undefined, hides('salary', '')],
    ['@exposed total() {}'],
  ],
  store: [
    ['@exposed *authentify(): any {}', 'authentify', 'it is a generator, but a login is not a stream; return a value'],
    [`@event('restrict') o1() { return null }`, 'o1', misplaced(`@event('restrict')`, 'DataStore', `DataClass('…')`)],
    [
      '@exposed City() {}',
      'City',
      '$catalog/City is the description of the dataclass City; the function needs another name',
    ],
  ],
  entity: [
    ['@job j11() {}', 'j11', misplaced('@job', `Entity('Employee')`, `DataClass('Employee')`)],
    [
      `@event('restrict') e1() { return null }`,
      'e1',
      misplaced(`@event('restrict')`, `Entity('Employee')`, `DataClass('Employee')`),
    ],
    [`@event('validatesave' as any) e2() {}`, 'e2', 'there is no event "validatesave"; did you mean "validateSave"?'],
    [`@event('touched', 'lastname') e3() {}`, 'e3', 'Employee has no attribute "lastname"; did you mean "lastName"?'],
    [
      `@event('touched', 'employer') e4() {}`,
      'e4',
      'the event "touched" never comes for "employer": its foreign key is assigned instead; use "employerID"',
    ],
    [
      `@event('saving', 'directReports') e5() {}`,
      'e5',
      'the event "saving" never comes for "directReports": it follows from "manager" of Employee',
    ],
    [
      `@event('validateSave', 'pay') e6() {}`,
      'e6',
      'the event "validateSave" never comes for "pay": it is an alias; "salary" is what is assigned',
    ],
    [
      `@event('touched', 'live') e7() {}`,
      'e7',
      'the event "touched" never comes for "live": it is calculated; take an attribute that it is made of',
    ],
    [
      `@event('saving', 'stored') e8() {}`,
      'e8',
      'the event "saving" never comes for "stored": it is calculated; take an attribute that it is made of',
    ],
    ...['constructor', 'afterSave', 'afterDrop'].map(
      (kind): Line => [
        `@event('${kind}', 'salary') a_${kind}() {}`,
        `a_${kind}`,
        `the event "${kind}" does not belong to an attribute; use @event('${kind}')`,
      ],
    ),
    ...['constructor', 'touched', 'validateSave', 'saving', 'validateDrop', 'dropping'].map(
      (kind): Line => [`@event('${kind}') async async_${kind}() {}`, `async_${kind}`, synchronous()],
    ),
    ...['afterSave', 'afterDrop'].map((kind): Line => [`@event('${kind}') async async_${kind}() {}`]),
    [`@event('validateSave') *e9() {}`, 'e9', synchronous('a generator')],
    [`@event('afterSave') *e10() {}`, 'e10', synchronous('a generator')],
    [`@event('validateDrop', 'employer') fine1() {}`],
    [`@event('touched', 'salary') fine2() {}`],
    [`@calculated({ type: 'string' }) get live() { return '' }`],
    [`@calculated({ type: 'string', stored: true }) get stored() { return '' }`],
    [`@queryOf('live') fine3() {}`],
    [`@orderByOf('live') fine4() {}`],
    [`@queryOf('live') q1() {}`, 'q1', 'fine3 is the @queryOf of "live" already'],
    [`@queryOf('life') q2() {}`, 'q2', 'Employee has no calculated attribute "life"; did you mean "live"?'],
    [`@orderByOf('salary') q3() {}`, 'q3', '"salary" is not a calculated attribute with a getter in this class'],
    [`@queryOf('stored') q4() {}`, 'q4', '"stored" is stored: queries look at its values, and never ask a handler'],
    [`@queryOf('live') *q6(): any {}`, 'q6', 'it is a generator, but a query waits for no promise'],
    [`@queryOf('live') async q5() {}`, 'q5', 'it is asynchronous, but a query waits for no promise'],
    ['@exposed notes() {}', undefined, hides('notes')],
    ['woman() {}', undefined, hides('woman')],
    [`get fullName() { return '' }`, undefined, hides('fullName')],
    ['salary = 0', undefined, hides('salary')],
    ['hired!: string', undefined, hides('hired')],
    ['declare birthDate: string'],
    ['visits = 0'],
  ],
}
const neverExported = (base: string) =>
  `a class that extends ${base} is not exported, so that nothing of it would ever run; write "export class"`
/** Classes that cannot be used at all. */
const unusable: readonly Line[] = [
  [`class Cities extends DataClass('City') {}`, undefined, neverExported(`DataClass('City')`)],
  ['class Other extends DataStore { @exposed x() {} }', undefined, neverExported('DataStore')],
  ['class Basket extends Singleton { @exposed x() {} }', undefined, neverExported('Singleton')],
  [
    'export class Nothing { @exposed x() {} }',
    undefined,
    'a class with decorators extends none of DataClass(…), Entity(…), EntitySelection(…), DataStore, Singleton',
  ],
  [
    `export class Office extends DataClass('Compny') { @exposed x() {} }`,
    undefined,
    'the class Office is about "Compny", which the model does not have; did you mean "Company"?',
  ],
  [
    `export class CitySelection extends Entity('City') {}`,
    undefined,
    `CitySelection: its name is that of a class that extends EntitySelection('City'), but it extends Entity('City')`,
  ],
  [
    `export class CompanyEntity extends EntitySelection('City') {}`,
    undefined,
    `CompanyEntity: its name is that of a class that extends Entity('Company'), but it extends EntitySelection('City')`,
  ],
]

t.test('code that would never run stops the start, and tesser check finds the same', async t => {
  const lines = IMPORT.trimEnd().split('\n')
  const expected: string[] = []
  const file = join(t.testdir({}), 'classes.ts')
  for (const [key, head] of Object.entries(HEADS) as [keyof typeof HEADS, string][]) {
    const className = /class (\w+)/.exec(head)![1]
    const headLine = lines.push(head)
    for (const [source, name, problem] of members[key]) {
      const line = lines.push(source)
      if (problem === undefined) continue
      expected.push(
        name === undefined
          ? `plugin acme, ${file}:${headLine}: ${className}: ${problem}`
          : `plugin acme, ${file}:${line}: ${className}.${name}: ${problem}`,
      )
    }
    lines.push('}')
  }
  for (const [source, , problem] of unusable) expected.push(`plugin acme, ${file}:${lines.push(source)}: ${problem}`)

  const index = writePlugin(t, lines.slice(2).join('\n'))
  const failure = await startServer(t, company, { config: { plugins: [index], functions: { threads: 1 } } }).then(
    () => undefined,
    error => error as DeclarationError,
  )
  t.strictSame(failure?.problems?.toSorted(), expected.toSorted())

  writeFileSync(join(t.testdirName, 'model.json'), JSON.stringify(company.model))
  const config = join(t.testdirName, 'tesser.config.json')
  writeFileSync(config, JSON.stringify({ model: 'model.json', data: 'store', plugins: ['./index.ts'] }))
  const found: string[] = []
  for await (const problem of check(loadConfig({ file: config, env: {}, flags: {} }))) found.push(problem)
  t.strictSame(found.toSorted(), expected.map(each => `classes: ${each}`).toSorted())
})
