import type { Questions } from './questions.ts'

export interface Envelope<T> {
  id: number
  content: T
}

export type Outcome = Envelope<{ answer: unknown } | { error: string }>

/** Handlers of a child process for each question. */
type Handlers<Q extends Questions> = {
  [Name in keyof Q]: (question: Q[Name]['question']) => Q[Name]['answer'] | Promise<Q[Name]['answer']>
}

/** Answers the parent's questions, and ends the process when the parent is gone. */
export function answerParent<Q extends Questions>(handlers: Handlers<Q>): void {
  process.on('message', async ({ id, content: [name, question] }: Envelope<[keyof Q, never]>) => {
    const outcome: Outcome['content'] = await Promise.resolve(question)
      .then(handlers[name])
      .then(
        answer => ({ answer }),
        (error: Error) => ({ error: error.stack ?? String(error) }),
      )
    process.send!({ id, content: outcome } satisfies Outcome)
  })
  process.on('disconnect', () => process.exit())
  // The terminal sends SIGINT to all processes, but the parent ends the children.
  process.on('SIGINT', () => {})
}
