import t from 'tap'
import { actionOf } from '../../../../../plugins/explorer/page/browse/keys.ts'

const SIZE = { rows: 100, columns: 5, pageRows: 20 }
const KEYS = { ctrlKey: false, metaKey: false, shiftKey: false, altKey: false }
const at = (row: number, column: number, key: string, others: Partial<typeof KEYS> = {}) =>
  actionOf({ ...KEYS, ...others, key }, { row, column }, SIZE)

t.test('keys of the grid', async t => {
  t.same(at(3, 2, 'ArrowDown'), { kind: 'focus', cell: { row: 4, column: 2 }, isRange: false })
  t.same(at(3, 2, 'ArrowDown', { shiftKey: true }), { kind: 'focus', cell: { row: 4, column: 2 }, isRange: true })
  t.same(at(3, 2, 'End', { ctrlKey: true }), { kind: 'focus', cell: { row: 99, column: 4 }, isRange: false })
  t.same(at(3, 2, 'PageUp'), { kind: 'focus', cell: { row: 0, column: 2 }, isRange: false })
  t.same(at(0, 2, 'ArrowUp'), { kind: 'focus', cell: { row: -1, column: 2 }, isRange: false })
  t.same(at(3, 2, 'Enter'), { kind: 'open' })
  t.same(at(3, 2, 'F2'), { kind: 'detail' })
  t.same(at(3, 2, 'a', { metaKey: true }), { kind: 'chooseAll' })
  t.same(at(3, 2, 'a'), undefined)
})

t.test('keys of its headers', async t => {
  t.same(at(-1, 2, 'Enter', { shiftKey: true }), { kind: 'order', isAdded: true })
  t.same(at(-1, 2, 'ArrowLeft', { altKey: true }), { kind: 'move', by: -1 })
  t.same(at(-1, 2, 'ArrowRight', { shiftKey: true }), { kind: 'resize', by: 16 })
  t.same(at(3, 2, 'ArrowLeft', { altKey: true }), undefined, 'the browser goes back')
})
