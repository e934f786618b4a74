import t from 'tap'
import { checkEntitySets } from '../../../../../engine/storage/inspect/check-entity-sets.ts'
import { entitySet } from '../../../../../engine/entity-set/entity-set.ts'
import { EntitySetStore } from '../../../../../engine/entity-set/entity-set-store.ts'
import { decodeMembers, encodeMembers, type RowMembers, setOf } from '../../../../../engine/entity-set/members.ts'
import { RowSet } from '../../../../../engine/row-set/row-set.ts'
import { type Environment, openEnvironment } from '../../../../../engine/storage/environment.ts'
import { LmdbRecords } from '../../../../../engine/storage/lmdb-records.ts'
import {
  expiryKey,
  entitySetHeaderKey,
  entitySetMembersKey,
  idOfExpiryKey,
} from '../../../../../engine/storage/keys.ts'
import { writeTableState } from '../../../../../engine/storage/store-state.ts'

const [A, B, C, D] = ['A', 'B', 'C', 'D'].map(letter => letter.repeat(32)) as [string, string, string, string]
const TABLE = 1
const NOW = 1_000_000

/** Makes a list, a set of few ids, a bitmap, and a set that has ended with a saved query. */
async function fill(environment: Environment): Promise<void> {
  writeTableState(environment, TABLE, { nextRowId: 1000, rowCount: 1000, nextAutoIncrement: 1 })
  const records = new LmdbRecords(environment)
  const store = new EntitySetStore({
    store: records,
    write: async changes => {
      environment.root.transactionSync(() => {
        for (const change of changes) records.sets.put(change)
      })
    },
    memoryBytes: 0,
    guests: { guestBytesPerAddress: 2 ** 27, maxGuestBytes: 2 ** 30 },
    savedLifetimeSeconds: 100,
    now: () => NOW,
  })
  const members = {
    [A]: Uint32Array.of(5, 3, 999),
    [B]: RowSet.fromIds([7, 900]),
    [C]: RowSet.range(1000),
    [D]: RowSet.empty,
  }
  for (const [id, rows] of Object.entries(members)) {
    const saved = id === D ? { source: { kind: 'all' as const } } : undefined
    await store.put(
      entitySet({
        id,
        tableNumber: TABLE,
        memberBytes: encodeMembers(rows),
        timeoutSeconds: 60,
        saved,
        creator: undefined,
      }),
    )
  }
  await store.release([D])
  await store.close()
}

interface Damage {
  name: string
  damage(environment: Environment): unknown
  found: string[]
}

const members = (...words: number[]): Buffer => Buffer.from(Uint32Array.from(words).buffer)
const put = (key: Buffer, value: Buffer) => (environment: Environment) => environment.entitySets.putSync(key, value)
const remove = (key: Buffer) => (environment: Environment) => environment.entitySets.removeSync(key)
const [LIST, IDS, WORDS] = [0, 1, 2]
const END = NOW + 60_000

function cutBitmap(): Buffer {
  const encoded = encodeMembers(Uint32Array.from({ length: 100 }, (_, i) => 100 - i))
  encoded[encoded.length - 4] = 0
  return Buffer.from(encoded)
}

const damages: Damage[] = [
  { name: 'nothing', damage: () => {}, found: [] },
  {
    name: 'a missing header',
    damage: remove(entitySetHeaderKey(A)),
    found: [
      `entity set ${A}: there are members of it, but no header`,
      `entity set ${A}: an entry says that it ends at ${END}, but there is no header`,
    ],
  },
  {
    name: 'a header that is not JSON',
    damage: put(entitySetHeaderKey(A), Buffer.from('{')),
    found: [
      `entity set ${A}: its header cannot be read`,
      `entity set ${A}: an entry says that it ends at ${END}, its header does not`,
    ],
  },
  {
    name: 'missing members',
    damage: remove(entitySetMembersKey(B)),
    found: [`entity set ${B}: it has no members`],
  },
  {
    name: 'members of a set that has ended',
    damage: put(entitySetMembersKey(D), members(IDS, 0)),
    found: [`entity set ${D}: it has ended, but its members are still there`],
  },
  {
    name: 'an end that is not noted',
    damage: remove(expiryKey(END, C)),
    found: [`entity set ${C}: its end at ${END} is not noted`],
  },
  {
    name: 'an end that its header does not have',
    damage: put(expiryKey(END + 1, C), Buffer.alloc(0)),
    found: [`entity set ${C}: an entry says that it ends at ${END + 1}, its header does not`],
  },
  {
    name: 'members that were cut off',
    damage: put(entitySetMembersKey(A), Buffer.alloc(7)),
    found: [`entity set ${A}: its members have 7 bytes`],
  },
  {
    name: 'a missing part of the members',
    damage: environment => {
      environment.entitySets.putSync(entitySetMembersKey(B, 2), Buffer.alloc(4))
    },
    found: [`entity set ${B}: a part of its members is missing`],
  },
  {
    name: 'members of an unknown form',
    damage: put(entitySetMembersKey(A), members(4, 0)),
    found: [`entity set ${A}: its members have the unknown form 4`],
  },
  {
    name: 'keys without their texts',
    damage: put(entitySetMembersKey(A), members(3, 1)),
    found: [`entity set ${A}: it has no room for 1 keys`],
  },
  {
    name: 'a wrong count of a bitmap',
    damage: put(entitySetMembersKey(C), members(WORDS, 3, 1, 2)),
    found: [`entity set ${C}: it has 2 members and says 3`],
  },
  {
    name: 'ids out of order',
    damage: put(entitySetMembersKey(B), members(IDS, 2, 7, 6)),
    found: [`entity set ${B}: its members are out of order`],
  },
  {
    name: 'an order whose bitmap lacks a member',
    damage: put(entitySetMembersKey(A), cutBitmap()),
    found: [`entity set ${A}: its members are not those of its bitmap`],
  },
  {
    name: 'a row that never existed',
    damage: put(entitySetMembersKey(A), members(LIST, 2, 1000, 4)),
    found: [`entity set ${A}: row 1000 is a member, but the next row id is 1000`],
  },
]

for (const { name, damage, found } of damages) {
  t.test(`the check finds ${name}`, async t => {
    const environment = openEnvironment({ path: t.testdir(), mapSizeBytes: 2 ** 28 })
    t.teardown(() => environment.close())
    await fill(environment)
    damage(environment)
    environment.root.resetReadTxn()
    t.same([...checkEntitySets(environment)], found)
  })
}

t.test('the key of an end holds the id of its set', async t => {
  t.equal(idOfExpiryKey(expiryKey(END, A)), A)
})

t.test('an ordered list of many members includes its set', async t => {
  const list = Uint32Array.from({ length: 100 }, (_, i) => (i * 37) % 101)
  const decoded = decodeMembers(encodeMembers(list))
  t.same([...(decoded as Uint32Array)], [...list])
  t.same(
    [...setOf(decoded as RowMembers)],
    [...list].sort((a, b) => a - b),
  )
})
