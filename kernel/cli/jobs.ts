import { quantity } from '../../engine/base/counted.ts'
import { ask } from './ask-server.ts'
import { UsageError } from './option-values.ts'
import { textTable } from './text-table.ts'

export interface JobsArguments {
  /** Address of the server, see `serverAddress`. */
  readonly url: string
  readonly key?: string | undefined
}

/** A job in an answer of `$jobs`. */
interface Job {
  readonly id: string
  readonly job: string
  readonly args: unknown
  readonly attempts: number
  readonly due?: string
  readonly begun?: string
  readonly ended?: string
  readonly error?: string
}

interface Summary {
  readonly functions: readonly { job: string; plugin: string; schedules?: { pattern: string; next?: string }[] }[]
  readonly counts: Readonly<Record<string, number>>
}

/** `tesser jobs`: the jobs of a running server. @throws {Error} the server cannot be used, or refuses, with its reason */
export class Jobs {
  constructor(
    private readonly server: JobsArguments,
    private readonly print: (line: string) => void,
  ) {}

  /** @throws {UsageError} a name is given without a state */
  async summary(job?: string): Promise<void> {
    if (job !== undefined) throw new UsageError(`--job needs a state: tesser jobs list failed --job ${job}`)
    const { functions, counts } = await this.send<Summary>('GET', '')
    const rows = functions.map(({ job, plugin, schedules = [] }) => [
      job,
      plugin,
      schedules.map(({ pattern, next }) => `${pattern}${next === undefined ? '' : ` (${next})`}`).join(', '),
    ])
    if (rows.length > 0) textTable(['job', 'plugin', 'schedules'], rows).forEach(this.print)
    this.print(
      Object.entries(counts)
        .map(([state, count]) => `${count} ${state}`)
        .join(', '),
    )
  }

  async list(state: string, { job, top }: { job: string | undefined; top: string }): Promise<void> {
    const name = job === undefined ? '' : `/${encodeURIComponent(job)}`
    const path = `/${encodeURIComponent(state)}${name}?$top=${encodeURIComponent(top)}`
    const { jobs } = await this.send<{ jobs: Job[] }>('GET', path)
    const rows = jobs.map(({ id, job, due, begun, ended, attempts, args, error }) => [
      id,
      job,
      ended ?? begun ?? due ?? '',
      String(attempts),
      error?.replaceAll(/\s+/g, ' ') ?? JSON.stringify(args),
    ])
    if (rows.length > 0) textTable(['id', 'job', 'time', 'attempts', 'error or arguments'], rows).forEach(this.print)
    this.print(quantity(rows.length, 'job'))
  }

  async show(id: string): Promise<void> {
    checkId(id)
    this.print(JSON.stringify(await this.send('GET', `/${encodeURIComponent(id)}`), undefined, 2))
  }

  async replay(id: string, job?: string): Promise<void> {
    if (id !== 'failed') checkId(id, ' or "failed"')
    if (id !== 'failed' && job !== undefined)
      throw new UsageError(`--job is for all failed jobs of a function: tesser jobs replay failed --job ${job}`)
    const name = job === undefined ? '' : `/${encodeURIComponent(job)}`
    const { count = 1 } = await this.send<{ count?: number }>('POST', `/${encodeURIComponent(id)}${name}/replay`)
    this.print(`${quantity(count, 'job')} will run again`)
  }

  async cancel(id: string): Promise<void> {
    checkId(id)
    await this.send('POST', `/${encodeURIComponent(id)}/cancel`)
    this.print(`the job ${id} is cancelled`)
  }

  private async send<Answer>(method: string, path: string): Promise<Answer> {
    const { url, key } = this.server
    return (await (await ask(new URL(`${url}/rest/$jobs${path}`), { method, key })).json()) as Answer
  }
}

/** @throws {UsageError} it is not the id of a job */
function checkId(text: string, hint = ''): void {
  if (/^[0-9a-f]{32}$/.test(text)) return
  throw new UsageError(
    `"${text}" is not the id of a job${hint}; tesser jobs list with a state, such as waiting or running, prints the ids`,
  )
}
