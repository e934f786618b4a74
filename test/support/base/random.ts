import fc from 'fast-check'

/** Choices that can be repeated by a seed. */
export interface Random {
  /** A whole number, `min` and `max` included, all equally likely. */
  integer(min: number, max: number): number
  chance(probability: number): boolean
  pick<T>(list: readonly T[]): T
  /** A new array with some of the elements, in their order. */
  some<T>(list: readonly T[], probability: number): T[]
}

/** Exposes the source of numbers itself: `fc.gen()` keeps all numbers to shrink them, and takes 30 times as long. */
class Source extends fc.Arbitrary<fc.Random> {
  override generate(source: fc.Random): fc.Value<fc.Random> {
    return new fc.Value(source.clone(), undefined)
  }

  override canShrinkWithoutContext(_: unknown): _ is fc.Random {
    return false
  }

  override shrink(): fc.Stream<fc.Value<fc.Random>> {
    return fc.Stream.nil()
  }
}

export function randomOf(seed: number): Random {
  const source = fc.sample(new Source(), { seed, numRuns: 1 })[0]!
  const integer = (min: number, max: number): number => source.nextInt(min, max)
  const chance = (probability: number): boolean => integer(0, 999) < probability * 1000
  return {
    integer,
    chance,
    pick: list => list[integer(0, list.length - 1)]!,
    some: (list, probability) => list.filter(() => chance(probability)),
  }
}
