import { DataClass, Entity, EntitySelection, onHTTPGet, selectionOf, type SelectionOf, Type } from 'tesser/classes'
import { type Box, boxAround, distance } from './sphere.ts'

const LATITUDE = Type.Number({ title: 'latitude', minimum: -90, maximum: 90 })
const LONGITUDE = Type.Number({ title: 'longitude', minimum: -180, maximum: 180 })

let earthRadiusKm: number
let maxDistanceKm: number

export function configure(options: { earthRadiusKm: number; maxDistanceKm: number }): void {
  ;({ earthRadiusKm, maxDistanceKm } = options)
}

export class City extends DataClass('City') {
  /** Cities within a distance, the nearest first: `GET /rest/City/near?$params=[47.14,9.52,20]`. */
  @onHTTPGet({
    description: 'Cities within a distance of a place, the nearest first.',
    parameters: Type.Tuple([LATITUDE, LONGITUDE, Type.Number({ title: 'distanceKm', exclusiveMinimum: 0 })]),
    result: selectionOf('City'),
  })
  near(latitude: number, longitude: number, distanceKm: number): SelectionOf<'City'> {
    const from = { latitude, longitude }
    if (distanceKm > maxDistanceKm) refuse(`distance ${distanceKm} is not between 0 and ${maxDistanceKm} km`)
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
  @onHTTPGet({
    description: 'Kilometres from the city to a place.',
    parameters: Type.Tuple([LATITUDE, LONGITUDE]),
    result: Type.Number(),
  })
  distanceTo(latitude: number, longitude: number): number {
    return distance(this, { latitude, longitude }, earthRadiusKm)
  }
}

export class CitySelection extends EntitySelection('City') {
  /** Southern, northern, western and eastern bounds, or null if there is no city: `GET /rest/City/extent?$filter="countryCode=LI"`. */
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

function refuse(message: string): never {
  throw { errCode: 4001, componentSignature: 'tesser-example-geo', message, httpStatus: 400 }
}
