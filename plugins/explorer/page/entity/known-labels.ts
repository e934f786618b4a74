/** Labels of entities that have been shown, for the trail. */
import { signal } from '@preact/signals'
import { atLogout } from '../base/remembered.ts'
import type { Step } from './trail.ts'

const MAX_KNOWN = 500
const known = signal<ReadonlyMap<string, string>>(new Map())
atLogout(() => {
  known.value = new Map()
})

const nameOf = ({ dataClass, key }: Step): string => `${dataClass}/${key}`

export function rememberLabel(step: Step, label: string): void {
  if (known.value.get(nameOf(step)) === label) return
  known.value = new Map([...known.value, [nameOf(step), label] as const].slice(-MAX_KNOWN))
}

/** The label, or the key if the label is not known. */
export const knownLabel = (step: Step): string => known.value.get(nameOf(step)) ?? step.key
