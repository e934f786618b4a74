/** The back end of each dataclass, and the rights of requests. */
import t from 'tap'
import type { Backend } from '../../../../engine/backend/backend.ts'
import { Backends } from '../../../../engine/backend/backends.ts'
import type { DataClass } from '../../../../engine/catalog/dataclass.ts'
import type { Permissions } from '../../../../engine/permission/permissions.ts'
import type { Access } from '../../../../engine/permission/views.ts'
import type { Task } from '../../../../engine/query/tasks/task.ts'

const GUEST = { name: 'guest' } as unknown as Access
const USER = { name: 'user' } as unknown as Access

const taskOf = (dataClass: string, access?: Access): Task => ({
  kind: 'read',
  request: { dataClass, access, source: { kind: 'all' }, skip: 0, top: 1, output: { form: 'array' } },
})

function open(guest: Access | undefined) {
  const asked: { by: string; task: Task }[] = []
  const backend = (by: string) =>
    ({
      run: (task: Task) => {
        asked.push({ by, task })
        return new Uint8Array(0)
      },
    }) as unknown as Backend
  const store = backend('store')
  const database = backend('database')
  const others = new Map([
    ['Film', database],
    ['Actor', database],
  ])
  return { asked, store, database, backends: new Backends(store, others, { guest } as Permissions) }
}

t.test('a dataclass has one back end, which is this store unless there is another', async t => {
  const { backends, store, database } = open(undefined)
  t.same(backends.all, [store, database], 'each once')
  t.equal(backends.of({ name: 'Film' } as DataClass), database)
  t.equal(backends.of({ name: 'Note' } as DataClass), store)
  t.equal(backends.elsewhere('Film'), database)
  t.equal(backends.elsewhere('Note'), undefined, 'a task of this store is not passed on to it again')
})

t.test('a task goes to the back end of its dataclass, with the rights of a guest unless it has others', async t => {
  const { backends, asked } = open(GUEST)
  for (const [name, by] of [
    ['Film', 'database'],
    ['Note', 'store'],
  ] as const) {
    asked.length = 0
    backends.run(taskOf(name))
    backends.run(taskOf(name, USER))
    t.same(
      asked.map(each => [each.by, each.task.request.access]),
      [
        [by, GUEST],
        [by, USER],
      ],
      name,
    )
  }
})

t.test('without roles nothing is copied', async t => {
  const { backends, asked } = open(undefined)
  const task = taskOf('Note')
  backends.run(task)
  t.equal(asked[0]!.task, task)
  t.equal(backends.withRights(task.request), task.request)
})
