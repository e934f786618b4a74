/** Numbers of entities, of the dataclasses that have been counted. */
import { signal } from '@preact/signals'

export const counts = signal<ReadonlyMap<string, number>>(new Map())

export const setCount = (dataClass: string, count: number): void => {
  counts.value = new Map(counts.value).set(dataClass, count)
}
