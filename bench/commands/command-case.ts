import type { OwnServerResult } from '../own-server/own-server-case.ts'
import type { World } from '../world/world.ts'

/** Benchmark case for a `tesser` command, without a server. */
export interface CommandCase {
  name: string
  title: string
  /** @throws {Error} for a wrong outcome */
  measure(world: World, rounds: number): Promise<Pick<OwnServerResult, 'lines' | 'verdicts'>>
}

export async function measureCommand(
  { name, title, measure }: CommandCase,
  world: World,
  rounds: number,
): Promise<OwnServerResult> {
  try {
    return { name, title, problem: undefined, ...(await measure(world, rounds)) }
  } catch (error) {
    const problem = (error as Error).message
    return {
      name,
      title,
      problem,
      lines: [],
      verdicts: [{ case: name, goal: 'a right outcome', found: problem, met: false }],
    }
  }
}
