/**
 * Saves many new cities at a time in an endless loop, two saves at once, and tells its parent of each save as `[number, isAtomic]` before it
 * and `[number]` when it has been answered; the parent kills the process.
 */
import { CITIES, cityName, openWorld } from './world.ts'

const [path, round] = process.argv.slice(2) as [string, string]
const engine = await openWorld(path)

async function save(parity: number): Promise<never> {
  for (let number = parity; ; number += 2) {
    const isAtomic = number % 3 === 0
    const cities = Array.from({ length: CITIES }, (_, i) => ({
      name: cityName(`${round}.${number}`, i),
      population: i % 50,
      // Some name a city of the same save.
      twinName: i % 7 === 3 ? cityName(`${round}.${number}`, i - 1) : null,
    }))
    process.send!([`${round}.${number}`, isAtomic])
    const { entities } = await engine.saves.write({
      kind: 'save',
      dataClass: 'City',
      body: Buffer.from(JSON.stringify(cities)),
      mode: 'update',
      atomic: isAtomic,
      trusted: true,
    })
    if (entities.some(({ failure }) => failure)) throw new Error('a city was refused')
    process.send!([`${round}.${number}`])
  }
}

await Promise.all([save(0), save(1)])
