import type { VectorSearch } from './vector-index.ts'

/** A condition that must be met for work to continue. Plain data, except `rows`, which stay in their thread. */
export type Needs =
  /** Plugin code, which this thread does not run. */
  | { readonly kind: 'code' }
  /** Entities of this dataclass, which this thread does not read. */
  | { readonly kind: 'entities'; readonly dataClass: string }
  /** Rows that have not been fetched yet. `fetch` is created and run by the back end that has them. */
  | { readonly kind: 'rows'; readonly fetch: unknown }
  /** The results of searches in indexes of vectors. */
  | { readonly kind: 'searches'; readonly searches: readonly VectorSearch[] }

/** Stops synchronous work that has to wait for something, or to run elsewhere. {@link drive} continues it. Never leaves the engine. */
export class Suspended extends Error {
  override readonly name = 'Suspended'

  constructor(readonly needs: Needs) {
    const { stackTraceLimit } = Error
    // It may be thrown several times in a request, and its stack is of no interest.
    Error.stackTraceLimit = 0
    super()
    Error.stackTraceLimit = stackTraceLimit
  }
}

/** The needs of work that has been suspended; undefined for any other error. */
export const needsOf = (error: unknown): Needs | undefined => (error instanceof Suspended ? error.needs : undefined)

/** True for an error that makes work wait for plugin code. */
export const needsCode = (error: unknown): boolean => needsOf(error)?.kind === 'code'

type Work<T> = () => T | Promise<T>

/**
 * Runs work until it ends. When it is suspended, `resume` gets its needs and returns how to continue: with the same work from its
 * beginning, or with other work instead.
 * @param resume returns undefined if nothing here can meet the needs; then the suspension is thrown
 */
export async function drive<T>(
  work: Work<T>,
  resume: (needs: Needs) => Work<T> | Promise<Work<T>> | undefined,
): Promise<T> {
  for (let current = work; ; ) {
    try {
      return await current()
    } catch (error) {
      const needs = needsOf(error)
      const next = needs && resume(needs)
      if (!next) throw error
      current = await next
    }
  }
}
