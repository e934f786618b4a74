import type { Options } from '../options.ts'
import { Child, profileOptions } from '../processes/child.ts'
import type { BoundQuestions, ServerQuestions, UploadQuestions } from '../processes/questions.ts'
import type { OwnServerCase, OwnServerResult } from './own-server-case.ts'
import { makePlace } from './place.ts'

/** Measures a case on a separate server. */
export async function measureOwnServerCase(
  bench: OwnServerCase,
  { seconds, rounds, profile }: Pick<Options, 'seconds' | 'rounds' | 'profile'>,
): Promise<OwnServerResult> {
  const { name, title } = bench
  const ours = new Child<ServerQuestions>('ours', profileOptions(profile))
  const bound = new Child<BoundQuestions>('bound')
  const upload = new Child<UploadQuestions>('upload')
  try {
    const start = { folder: (await bench.place?.()) ?? makePlace(), seed: 0, employees: 0 }
    const [atOurs, atBound] = await Promise.all([ours.ask('start', start), bound.ask('start', start)])
    const result = await bench.measure({
      ours: { child: ours, port: atOurs.port },
      bound: { child: bound, port: atBound.port },
      upload,
      seconds,
      rounds,
    })
    return { name, title, problem: undefined, ...result }
  } catch (error) {
    const problem = (error as Error).message
    const verdict = { case: name, goal: 'the right answers', found: problem, met: false }
    return { name, title, problem, lines: [], verdicts: [verdict] }
  } finally {
    await Promise.all([ours.stop(), bound.stop(), upload.stop()])
  }
}
