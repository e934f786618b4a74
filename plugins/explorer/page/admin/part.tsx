import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { ask } from '../base/rest.ts'
import { complain, notify } from '../base/work.ts'
import { Fault } from '../components/fault.tsx'
import { useAnswer } from '../components/use-answer.ts'
import { text } from './texts.ts'

interface PartProps<Answer> {
  /** Path after `/rest/`. */
  readonly path: string
  /** Time after which an answer is requested again; undefined: on demand. */
  readonly pollMs?: (answer: Answer) => number | undefined
  /** @param act runs an action, shows the text that it returns as a notice, and then loads the part again */
  readonly children: (answer: Answer, act: (work: () => Promise<string>) => void) => ComponentChildren
}

/** A part of the state of the server, reloaded on demand. */
export function Part<Answer>({ path, pollMs, children }: PartProps<Answer>) {
  const [times, setTimes] = useState(0)
  const { result, error, isLoading } = useAnswer(signal => ask<Answer>(path, {}, { signal }), [path, times])
  const again = (): void => setTimes(before => before + 1)
  const pause = result && pollMs?.(result)
  useEffect(() => {
    if (pause === undefined) return undefined
    const timer = setTimeout(again, pause)
    return () => clearTimeout(timer)
  }, [result])
  const act = (work: () => Promise<string>): void => void work().then(notify, complain).finally(again)
  return (
    <section aria-busy={isLoading}>
      <button type="button" class="again" onClick={again}>
        {text('again')}
      </button>
      {error !== undefined && <Fault error={error} />}
      {result !== undefined && children(result, act)}
    </section>
  )
}
