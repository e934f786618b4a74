import { type ChildProcess, fork } from 'node:child_process'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { outputUrl } from '../../engine/base/output-root.ts'
import type { Envelope, Outcome } from './answer-parent.ts'
import type { Questions } from './questions.ts'

const children = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL')
})

interface Pending {
  resolve(answer: never): void
  reject(error: Error): void
}

/** A child process that answers questions, one after the other or several at once. */
export class Child<Q extends Questions> {
  private readonly process: ChildProcess
  private readonly pending = new Map<number, Pending>()
  private nextId = 0
  private readonly exit: Promise<void>

  /**
   * @param name of a file in this folder, `{name}.child.ts`
   * @param nodeOptions for the new process
   */
  constructor(
    private readonly name: string,
    nodeOptions: readonly string[] = [],
  ) {
    this.process = fork(fileURLToPath(outputUrl(`bench/processes/${name}.child.js`)), {
      execArgv: [...nodeOptions],
      serialization: 'advanced',
    })
    children.add(this.process)
    this.process.on('message', ({ id, content }: Outcome) => {
      const { resolve, reject } = this.pending.get(id)!
      this.pending.delete(id)
      if ('error' in content) reject(new Error(`${name}: ${content.error}`))
      else resolve(content.answer as never)
    })
    this.exit = new Promise(resolve => {
      this.process.on('exit', (code, signal) => {
        children.delete(this.process)
        for (const { reject } of this.pending.values())
          reject(new Error(`${name} ended with ${signal ?? `code ${code}`}`))
        resolve()
      })
    })
  }

  /** @throws {Error} for a failure in the process, or when the process ends */
  ask<Name extends keyof Q>(name: Name, question: Q[Name]['question']): Promise<Q[Name]['answer']> {
    return new Promise((resolve, reject) => {
      const id = this.nextId++
      this.pending.set(id, { resolve, reject })
      this.process.send({ id, content: [name, question] } satisfies Envelope<unknown>, error => {
        if (error) reject(new Error(`${this.name} cannot be asked: ${error.message}`))
      })
    })
  }

  /** Lets the process end, after it has closed its resources. */
  async stop(): Promise<void> {
    if (this.process.connected) {
      await this.ask('close' as keyof Q, null as never).catch(() => {})
      this.process.disconnect()
    }
    await this.exit
  }
}

/** Options of Node.js for a process that writes CPU profiles, a file for each thread. @param folder undefined: none */
export const profileOptions = (folder: string | undefined): string[] =>
  folder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${resolve(folder)}`]
