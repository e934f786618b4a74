import { DataClass, Entity, EntitySelection, onHTTPGet, type SelectionOf } from 'tesser/classes'
import { type Box, boxAround, distance, type Place } from './sphere.ts'

let earthRadiusKm: number
let maxDistanceKm: number

export function configure(options: { earthRadiusKm: number; maxDistanceKm: number }): void {
  ;({ earthRadiusKm, maxDistanceKm } = options)
}

export class City extends DataClass('City') {
  /** Cities within a distance, the nearest first: `GET /rest/City/near?$params=[47.14,9.52,20]`. */
  @onHTTPGet near(latitude: number, longitude: number, distanceKm: number): SelectionOf<'City'> {
    const from = place(latitude, longitude)
    if (!(distanceKm > 0 && distanceKm <= maxDistanceKm))
      refuse(`distance ${distanceKm} is not between 0 and ${maxDistanceKm} km`)
    const { south, north, west, east } = boxAround(from, distanceKm, earthRadiusKm)
    const joined = west <= east ? 'and' : 'or'
    const inBox = this.query(
      `latitude >= :1 and latitude <= :2 and (longitude >= :3 ${joined} longitude <= :4)`,
      ...[south, north, west, east],
    )
    const found = Array.from(inBox, city => ({ city, km: distance(from, city, earthRadiusKm) }))
      .filter(({ km }) => km <= distanceKm)
      .sort((a, b) => a.km - b.km)
    const nearest = this.newSelection()
    for (const { city } of found) nearest.add(city)
    return nearest
  }
}

export class CityEntity extends Entity('City') {
  /** Kilometres to a place: `GET /rest/City(1)/distanceTo?$params=[48.85,2.35]`. */
  @onHTTPGet distanceTo(latitude: number, longitude: number): number {
    return distance(this, place(latitude, longitude), earthRadiusKm)
  }
}

export class CitySelection extends EntitySelection('City') {
  /** South, north, west and east end, or null when there is no city: `GET /rest/City/extent?$filter="countryCode=LI"`. */
  @onHTTPGet extent(): Box | null {
    if (this.length === 0) return null
    return {
      south: this.min('latitude') as number,
      north: this.max('latitude') as number,
      west: this.min('longitude') as number,
      east: this.max('longitude') as number,
    }
  }
}

declare module 'tesser/classes' {
  interface Classes {
    City: City
    CityEntity: CityEntity
    CitySelection: CitySelection
  }
}

function place(latitude: number, longitude: number): Place {
  if (!(Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180)) refuse(`[${latitude}, ${longitude}] is no place`)
  return { latitude, longitude }
}

function refuse(message: string): never {
  throw { errCode: 4001, componentSignature: 'tesser-example-geo', message, httpStatus: 400 }
}
