import t from 'tap'
import { isExport } from '../../../../engine/query/tasks/task.ts'

const read = (top: number | undefined, rowFormat?: object) => ({
  kind: 'read',
  request: { dataClass: 'City', source: { kind: 'all' }, skip: 0, top, output: { form: 'array', rowFormat } },
})
const LINES = { kind: 'lines' }

const cases: [name: string, task: object, expected: boolean][] = [
  ['all entities as lines', read(Number.POSITIVE_INFINITY, LINES), true],
  ['more lines than a page', read(10_001, LINES), true],
  ['a page of lines', read(10_000, LINES), false],
  ['all entities as JSON', read(Number.POSITIVE_INFINITY), false],
  ['another task', { kind: 'rowIds' }, false],
]

for (const [name, task, expected] of cases) t.equal(isExport(task), expected, name)
