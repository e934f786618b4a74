/** Labels of entities that have been shown, for the trail. */
import { signal } from '@preact/signals'
import { atLogout } from '../base/remembered.ts'
import type { Step } from './trail.ts'

const MAX_KNOWN = 500
const labels = signal<ReadonlyMap<string, string>>(new Map())
atLogout(() => {
  labels.value = new Map()
})

const nameOf = ({ dataClass, key }: Step): string => `${dataClass}/${key}`

export function rememberLabel(step: Step, label: string): void {
  if (labels.value.get(nameOf(step)) === label) return
  labels.value = new Map([...labels.value, [nameOf(step), label] as const].slice(-MAX_KNOWN))
}

/** The label, or the key if the label is not known. */
export const knownLabel = (step: Step): string => labels.value.get(nameOf(step)) ?? step.key
