/** The company with the code of `staff-code.ts`, and saves of its employees. */
import type { Test } from 'tap'
import type { AuthorClass } from '../../../../../engine/author/declare/describe-classes.ts'
import { RowView } from '../../../../../engine/row-format/row-view.ts'
import { calls, EmployeeEntity, effects, stops } from './staff-code.ts'
import { openHookedWorld } from './world.ts'

/** A world whose code starts afresh before each test. @param more classes besides those of employees */
export async function openStaffWorld(t: Test, more: readonly AuthorClass[] = []) {
  t.beforeEach(() => {
    calls.length = 0
    stops.clear()
    effects.clear()
  })
  const world = await openHookedWorld(t, [EmployeeEntity, ...more])
  const { codeSession, run } = world
  const stampOf = (key: number): number => run(ds => ds.Employee!.get(key)!.getStamp())
  return {
    ...world,
    stampOf,
    rowOf: (bytes: Uint8Array): RowView => run(() => new RowView(codeSession.binding('Employee').layout, bytes)),
    employee: (key: number, values: object) => ({ __KEY: key, __STAMP: stampOf(key), ...values }),
  }
}
