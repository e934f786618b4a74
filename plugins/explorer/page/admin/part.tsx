import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { ask } from '../base/rest.ts'
import { complain, notify } from '../base/work.ts'
import { Fault } from '../components/fault.tsx'
import { useAnswer } from '../components/use-answer.ts'
import { text } from './texts.ts'

interface PartProps<Answer> {
  /** Path after `/rest/`. */
  readonly path: string
  /** @param act runs an action, shows the text that it returns as a notice, and then loads the part again */
  readonly children: (answer: Answer, act: (work: () => Promise<string>) => void) => ComponentChildren
}

/** A part of `$info`, reloaded on demand. */
export function Part<Answer>({ path, children }: PartProps<Answer>) {
  const [times, setTimes] = useState(0)
  const { result, error, isLoading } = useAnswer(signal => ask<Answer>(path, {}, { signal }), [path, times])
  const again = (): void => setTimes(before => before + 1)
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
