/**
 * A copy that is brought to a changed model while the store is written to becomes the store that the change of the closed store would
 * have made, table by table, whatever interrupts it.
 */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { MigrationStep } from '../../engine/base/progress.ts'
import { checkModel } from '../../engine/catalog/check-model.ts'
import { migrateBeside } from '../../engine/storage/migration/beside/migrate-beside.ts'
import { lockForReading } from '../../engine/storage/store-lock.ts'
import { type Random, randomOf } from '../support/base/random.ts'
import { isLong, seedOf, timeoutMs } from '../support/runner/rounds.ts'
import { ISO, model, NOW } from '../support/engine/test-store.ts'
import { differences } from '../support/base/differences.ts'
import { contentOf, type LoggedStore, openLogged } from '../support/engine/logged-store.ts'

t.setTimeout(timeoutMs)
const { Company, Person, City } = model.dataClasses
const withClasses = (dataClasses: object) => ({ ...model, dataClasses: { ...model.dataClasses, ...dataClasses } })
const without = <T extends object>(attributes: T, ...names: (keyof T)[]): object =>
  Object.fromEntries(Object.entries(attributes).filter(([name]) => !(names as string[]).includes(name)))

const CHANGES: Readonly<Record<string, object>> = {
  'attributes, indexes and a dataclass more': withClasses({
    Person: {
      ...Person,
      attributes: {
        ...Person.attributes,
        note: { type: 'string', indexed: true },
        rank: { type: 'word', indexed: true },
      },
    },
    Note: { key: 'ID', attributes: { ID: { type: 'long' }, text: { type: 'string' } } },
  }),
  'an index less': withClasses({
    City,
    Company: { ...Company, attributes: { ...Company.attributes, name: { type: 'string' } } },
  }),
  'other types': withClasses({
    Person: {
      ...Person,
      attributes: {
        ...Person.attributes,
        big: { type: 'string', indexed: true },
        height: { type: 'long', indexed: true },
      },
    },
  }),
  'other names': withClasses({
    Company: {
      ...Company,
      attributes: {
        ...without(Company.attributes, 'name', 'label'),
        title: { ...Company.attributes.name, formerName: 'name' },
      },
    },
    Person: { ...Person, attributes: without(Person.attributes, 'employerName') },
  }),
  'a relation more': withClasses({
    City: {
      ...City,
      attributes: { ...City.attributes, company: { kind: 'relatedEntity', type: 'Company', foreignKey: 'population' } },
    },
  }),
  'images, a relation and a dataclass less': {
    ...model,
    dataClasses: {
      Company: { ...Company, attributes: without(Company.attributes, 'staff') },
      City,
      Person: {
        ...Person,
        attributes: without(Person.attributes, 'photo', 'cv', 'pets', 'employer', 'employerName'),
      },
    },
  },
}

const MAP = { mapSizeBytes: 2 ** 30 }
const ROUND = isLong ? 120 : 25

const filesOf = (folder: string): string[] => (existsSync(folder) ? readdirSync(folder) : [])

class Interruption extends Error {}

/** Throws at the nth call. */
function failingAt(n: number): (step: MigrationStep) => void {
  let calls = 0
  return () => {
    if (++calls === n) throw new Interruption()
  }
}

const beside = (path: string, target: object, onProgress = (_: MigrationStep): void => {}): Promise<boolean> =>
  migrateBeside({ path, ...MAP, model: checkModel(target), wire: ISO, allowLoss: true }, { onNote() {}, onProgress })

/** A store with random content that is open, and the names of folders beside it. */
async function begin(folder: string, random: Random): Promise<{ path: string; control: string; store: LoggedStore }> {
  const [path, control] = [join(folder, 'store'), join(folder, 'control')]
  mkdirSync(path, { recursive: true })
  const store = await openLogged(path)
  store.write(random, 2 * ROUND)
  return { path, control, store }
}

/** Copies a closed store without the copy in it. */
const copyPlain = (path: string, control: string): void =>
  cpSync(path, control, { recursive: true, filter: source => !source.endsWith('migrating') })

/** Opens the store and the plain one with the model, and compares them. */
async function compare(path: string, control: string, target: object): Promise<string[]> {
  for (const each of [path, control]) await (await openLogged(each, {}, { model: target, allowLoss: true })).close()
  const [found, expected] = [await contentOf(path), await contentOf(control)]
  for (const { content } of [found, expected])
    for (const key of content.keys()) if (/^(changes |meta (schemaId|movedTables)$)/.test(key)) content.delete(key)
  const files = [path, control].map(each => filesOf(join(each, 'files')).sort().join())
  return [
    // Both keep the files of a state that another data file had.
    ...found.problems.filter(text => !expected.problems.includes(text)),
    ...differences(found.content, expected.content),
    ...(files[0] === files[1] ? [] : [`files ${files}`]),
    ...(existsSync(join(path, 'migrating')) ? ['the copy is still there'] : []),
  ]
}

for (const [i, [name, target]] of Object.entries(CHANGES).entries()) {
  t.test(name, async t => {
    const random = randomOf(seedOf(700 + i))
    const { path, control, store } = await begin(t.testdir(), random)
    for (let round = 0; round < 3; round++) {
      t.ok(await beside(path, target))
      store.write(random, ROUND)
    }
    await store.close()
    copyPlain(path, control)
    t.same(await compare(path, control, target), [])
  })

  t.test(`${name}, interrupted at every step`, async t => {
    const random = randomOf(seedOf(720 + i))
    const { path, control, store } = await begin(t.testdir(), random)
    const interrupted = async (
      work: (onProgress: (step: MigrationStep) => void) => Promise<unknown>,
      then: () => void,
    ) => {
      for (let n = 1; ; n++) {
        try {
          await work(failingAt(n))
          return n
        } catch (error) {
          if (!(error instanceof Interruption)) throw error
          then()
        }
      }
    }
    const steps = await interrupted(
      onProgress => beside(path, target, onProgress),
      () => store.write(random, 3),
    )
    store.write(random, ROUND)
    await store.close()
    copyPlain(path, control)
    const takes = await interrupted(
      async onProgress => (await openLogged(path, {}, { model: target, allowLoss: true, onProgress })).close(),
      () => {},
    )
    t.ok(steps + takes > 2, `${steps} and ${takes} interruptions`)
    t.same(await compare(path, control, target), [])
  })
}

t.test('a copy that is damaged, or of another model, is not used', async t => {
  const [target, other] = Object.values(CHANGES) as [object, object]
  const damages: Readonly<Record<string, (folder: string) => void>> = {
    'without its description': folder => rmSync(join(folder, 'target.json')),
    'cut off': folder => truncateSync(join(folder, 'data.mdb'), 9_000),
    'not copied yet': folder => rmSync(join(folder, 'data.mdb')),
    'of another model': folder => {
      const file = join(folder, 'target.json')
      const described = JSON.parse(readFileSync(file, 'utf8')) as object
      writeFileSync(file, JSON.stringify({ ...described, model: checkModel(other) }))
    },
  }
  for (const [name, damage] of Object.entries(damages)) {
    const random = randomOf(seedOf(750))
    const { path, control, store } = await begin(join(t.testdir(), name), random)
    await beside(path, target)
    store.write(random, ROUND)
    await store.close()
    damage(join(path, 'migrating'))
    copyPlain(path, control)
    t.same(await compare(path, control, target), [], name)
  }
})

const REPLACED: Readonly<Record<string, (path: string, earlier: string) => void>> = {
  'by another file': (path, earlier) => renameSync(earlier, path),
  'in place': (path, earlier) => writeFileSync(path, readFileSync(earlier)),
}
for (const [how, replace] of Object.entries(REPLACED))
  t.test(`after the data file has been replaced ${how}, nothing of the abandoned state is taken over`, async t => {
    const [target] = Object.values(CHANGES) as [object]
    for (let seed = 760; seed < 764; seed++) {
      const random = randomOf(seedOf(seed))
      const { path, control, store } = await begin(join(t.testdir(), `${seed}`), random)
      await store.close()
      const earlier = join(path, 'earlier.mdb')
      cpSync(join(path, 'data.mdb'), earlier)
      const abandoned = await openLogged(path, 'off')
      abandoned.write(random, ROUND)
      await beside(path, target)
      await abandoned.close()
      replace(join(path, 'data.mdb'), earlier)
      // Later, as a store that goes another way always is: without the time, a row with the same stamps would be the same one.
      const again = await openLogged(path, 'off', { now: NOW + 1 })
      // Its stamps overtake those of the copy.
      again.write(random, 2 * ROUND)
      await again.close()
      copyPlain(path, control)
      t.same(await compare(path, control, target), [], `${seed}`)
    }
  })

t.test('a copy is not put into place while a process reads the data file', async t => {
  const [target] = Object.values(CHANGES) as [object]
  const { path, control, store } = await begin(t.testdir(), randomOf(seedOf(770)))
  await beside(path, target)
  await store.close()
  copyPlain(path, control)
  const reader = lockForReading(path)!
  const lock = { waitMs: 0 }
  await t.rejects(openLogged(path, {}, { model: target, allowLoss: true, lock }), {
    message: /is read by a check, a backup or the preparation of a changed model; start when that is done/,
  })
  reader.release()
  t.same(await compare(path, control, target), [])
})
