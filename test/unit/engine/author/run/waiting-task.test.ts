import t from 'tap'
import type { ErrorData, ProtocolError } from '../../../../../engine/base/errors.ts'
import { RunningCall } from '../../../../../engine/author/declare/running-call.ts'
import type { FunctionTask, TaskOutcome } from '../../../../../engine/author/run/tasks.ts'
import { WaitingTask } from '../../../../../engine/author/run/waiting-task.ts'

t.test('a save that is stopped while the writer works may have been done', async t => {
  const outcomes: TaskOutcome[] = []
  const call = new RunningCall(1, { deadlineMs: 1, waitMs: 1 })
  const task = new WaitingTask({ kind: 'save' } as FunctionTask, call, {
    run: work => work(),
    writeResult: () => ({ ended: true }) as TaskOutcome,
    complete: work => work(),
    failureOf: thrown => ({ error: (thrown as ProtocolError).toData() as ErrorData }),
    check: outcome => outcome,
    finish: outcome => {
      call.hasEnded = true
      return { ...outcome, examined: 0 }
    },
    onFault: () => t.fail('nothing is logged'),
    onHead: () => {},
    onChunk: () => 0,
    onEnd: outcome => outcomes.push(outcome),
  })
  let done: (() => void) | undefined
  task.goOn({
    begin(answer) {
      done = () => answer({ kind: 'save', many: false, entities: [], globalStamp: 1 })
    },
    complete: () => ({ ended: true }) as TaskOutcome,
  })
  task.stop(new Error('too late'))
  t.match(outcomes, [{ error: { name: 'WRITER.OUTCOME_UNKNOWN' } }])
  done!()
  t.equal(outcomes.length, 1, 'and the answer of the writer comes too late')
})
