/** Long-running work: shown at the foot of the page with its progress, where it can be cancelled. */
import { signal } from '@preact/signals'
import { atLogout } from './remembered.ts'
import { isAbort } from './rest.ts'

interface Work {
  readonly title: string
  /** From 0 to 1; undefined if the end is not known. */
  readonly progress: number | undefined
  readonly cancel: () => void
}

export interface WorkControl {
  readonly signal: AbortSignal
  report(progress: number): void
}

export const works = signal<readonly Work[]>([])

/** Runs work until it ends or is cancelled. @returns undefined if it was cancelled */
export async function runWork<Result>(
  title: string,
  run: (control: WorkControl) => Promise<Result>,
): Promise<Result | undefined> {
  const controller = new AbortController()
  let work: Work = { title, progress: undefined, cancel: () => controller.abort() }
  const replace = (next?: Work): void => {
    works.value = works.value.flatMap(each => (each !== work ? [each] : next ? [next] : []))
    if (next) work = next
  }
  works.value = [...works.value, work]
  try {
    return await run({ signal: controller.signal, report: progress => replace({ ...work, progress }) })
  } catch (error) {
    if (isAbort(error)) return undefined
    throw error
  } finally {
    replace()
  }
}

interface Notice {
  readonly kind: 'done' | 'error'
  readonly text: string
  /** A remedy: undo, try again. */
  readonly action?: { readonly label: string; readonly run: () => void }
}

/** The last message to the user; read aloud by screen readers. */
export const notice = signal<Notice | undefined>(undefined)
export const notify = (text: string, action?: Notice['action']): void => {
  notice.value = action ? { kind: 'done', text, action } : { kind: 'done', text }
}
export const complain = (error: unknown): void => {
  if (!isAbort(error)) notice.value = { kind: 'error', text: error instanceof Error ? error.message : String(error) }
}

/** The user's last change that can be undone; other notices do not replace it. */
export const lastChange = signal<Required<Notice> | undefined>(undefined)

atLogout(() => {
  for (const { cancel } of works.value) cancel()
  notice.value = undefined
  lastChange.value = undefined
})
