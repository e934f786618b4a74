import { Argument, type Command } from 'commander'
import { addServerOptions, serverOf } from './config-options.ts'
import type { JobsArguments } from './jobs.ts'
import { print } from './outcome.ts'

type Given = Omit<JobsArguments, 'url'>

/** `tesser jobs`. */
export function addJobCommands(program: Command): void {
  const jobs = program.command('jobs').description('List, replay and cancel jobs of a running server.')
  const add = (usage: string, description: string): Command =>
    addServerOptions(jobs.command(usage), ' of an administrator').description(description)
  const commands = async (command: Command, serverOptions: Given) =>
    new (await import('./jobs.ts')).Jobs({ ...serverOptions, url: serverOf(command) }, print)

  add('list', 'List the job functions with their numbers of jobs; with a state, the jobs in that state.')
    .addArgument(new Argument('[state]').choices(['waiting', 'ready', 'running', 'done', 'failed', 'cancelled']))
    .option('--job <name>', 'with a state: only jobs of one function, such as Ticket.embed')
    .option('--top <count>', 'maximum number of jobs', '100')
    .action(
      async (state: string | undefined, { job, top, ...serverOptions }: Given & ListOptions, command: Command) => {
        const all = await commands(command, serverOptions)
        await (state === undefined ? all.summary(job) : all.list(state, { job, top }))
      },
    )
  add('show <id>', 'Print a job: its arguments, its state, its last error.').action(
    async (id: string, serverOptions: Given, command: Command) => (await commands(command, serverOptions)).show(id),
  )
  add('replay <id>', 'Run an ended job again; "failed" runs all failed jobs again.')
    .option('--job <name>', 'with "failed": only jobs of one function')
    .action(async (id: string, { job, ...serverOptions }: Given & { job?: string }, command: Command) =>
      (await commands(command, serverOptions)).replay(id, job),
    )
  add('cancel <id>', 'Cancel a waiting or running job.').action(
    async (id: string, serverOptions: Given, command: Command) => (await commands(command, serverOptions)).cancel(id),
  )
}

interface ListOptions {
  readonly job?: string
  readonly top: string
}
