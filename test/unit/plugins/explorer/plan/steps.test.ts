import t from 'tap'
import { costOf, isHidden, stepsOf, withPlanned } from '../../../../../plugins/explorer/page/plan/steps.ts'

t.test('steps without a description are replaced by the steps below them', async t => {
  const trace = [
    {
      description: 'AND',
      time: 10,
      recordsfounds: 3,
      steps: [
        { description: 'Join', time: 6, recordsfounds: 5, steps: [{ steps: [{ description: 'index', time: 1 }] }] },
        { description: 'test', time: 3, recordsfounds: 3 },
      ],
    },
  ]
  const [and] = stepsOf(trace)
  t.match(and, { description: 'AND', time: 10, own: 1, rows: 3 })
  t.match(and!.steps, [
    { description: 'Join', own: 5, steps: [{ description: 'index', own: 1, rows: undefined }] },
    { description: 'test', own: 3, steps: [] },
  ])
  t.notOk(isHidden([and!]))
})

t.test('planned steps that were not needed are shown in place', async t => {
  const plan = [{ And: [{ item: 'a' }, { item: 'Join', subquery: [{ item: 'b' }] }, { Or: [{ item: 'c' }] }] }]
  const drawn = (trace: Parameters<typeof stepsOf>[0]) => withPlanned(stepsOf(trace), plan)
  const all = drawn([{ description: 'AND', time: 2, steps: [{ description: 'Join', time: 1 }] }])
  t.match(all, [
    {
      description: 'AND',
      steps: [
        { description: 'a', isSkipped: true },
        { description: 'Join', time: 1, isSkipped: undefined, steps: [{ description: 'b', isSkipped: true }] },
        { description: 'OR', isSkipped: true, steps: [{ description: 'c', isSkipped: true }] },
      ],
    },
  ])
  t.notOk(isHidden(all), 'a step that was not needed hides nothing')
  const others = drawn([
    { description: 'AND', steps: [{ description: 'x' }, { description: 'a' }, { description: 'y' }] },
  ])
  t.same(
    others[0]!.steps.map(({ description }) => description),
    ['x', 'a', 'Join', 'OR', 'y'],
  )
  t.same(withPlanned(stepsOf([{ description: 'a' }]), []), stepsOf([{ description: 'a' }]))
})

t.test('hidden steps have no times', async t => {
  const steps = stepsOf([{ description: 'OR', steps: [{ description: 'a', time: 1 }] }])
  t.equal(steps[0]!.own, undefined)
  t.ok(isHidden(steps))
})

t.test('clocks are rounded, time is never negative', async t => {
  t.equal(stepsOf([{ description: 'a', time: 1, steps: [{ description: 'b', time: 1.001 }] }])[0]!.own, 0)
})

t.test('costs by share', async t => {
  t.same([1, 0.5, 0.3, 0.1, 0.05].map(costOf), ['high', 'high', 'medium', 'medium', 'low'])
})
