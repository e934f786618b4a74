/** Numbers of entities, of the dataclasses that have been counted. */
import { signal } from '@preact/signals'
import { atLogout } from './remembered.ts'

export const counts = signal<ReadonlyMap<string, number>>(new Map())

export const setCount = (dataClass: string, count: number): void => {
  counts.value = new Map(counts.value).set(dataClass, count)
}

atLogout(() => {
  counts.value = new Map()
})
