import { isGeneratorObject } from 'node:util/types'

type Generated = Generator<unknown> | AsyncGenerator<unknown>

const wrappers = new WeakSet<object>()

/** A generator whose code runs within `govern` each time it resumes. */
export function governedGenerator(generator: Generated, govern: <T>(work: () => T) => T): Generated {
  const step =
    (name: 'next' | 'return' | 'throw') =>
    (...args: [unknown]): unknown =>
      govern(() => Reflect.apply(generator[name], generator, args) as unknown)
  // The wrapper inherits the helpers of its kind of generator, and is iterable.
  const wrapper = Object.create(
    Object.getPrototypeOf(Object.getPrototypeOf(generator) as object) as object,
  ) as Generated
  Object.assign(wrapper, { next: step('next'), return: step('return'), throw: step('throw') })
  wrappers.add(wrapper)
  return wrapper
}

/** True for the result of a generator function. */
export const isGenerator = (value: unknown): value is Generated =>
  isGeneratorObject(value) || (typeof value === 'object' && value !== null && wrappers.has(value))
