import fc from 'fast-check'

/** Choices that a seed repeats. */
export interface Random {
  /** A whole number, `min` and `max` included, all equally likely. */
  integer(min: number, max: number): number
  chance(probability: number): boolean
  pick<T>(list: readonly T[]): T
  /** A new array with some of the elements, in their order. */
  some<T>(list: readonly T[], probability: number): T[]
}

const uniform = (min: number, max: number) => fc.noBias(fc.integer({ min, max }))

export function randomOf(seed: number): Random {
  const [generate] = fc.sample(fc.gen(), { seed, numRuns: 1 })
  const integer = (min: number, max: number): number => generate!(uniform, min, max)
  const chance = (probability: number): boolean => integer(0, 999) < probability * 1000
  return {
    integer,
    chance,
    pick: list => list[integer(0, list.length - 1)]!,
    some: (list, probability) => list.filter(() => chance(probability)),
  }
}
