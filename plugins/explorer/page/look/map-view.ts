/** Places on a plain map, on which meridians and parallels are straight lines. */
import type { Attribute } from '../base/model.ts'

export interface GeoPoint {
  readonly key: string
  readonly latitude: number
  readonly longitude: number
}

interface Area {
  readonly south: number
  readonly north: number
  readonly west: number
  readonly east: number
}

export interface Size {
  readonly width: number
  readonly height: number
}

export interface MapView {
  /** Degrees at the centre of the picture. */
  readonly longitude: number
  readonly latitude: number
  /** Pixels per degree of latitude. */
  readonly scale: number
  /** Factor by which a degree of longitude is narrower. */
  readonly narrowing: number
}

const WORLD: Area = { south: -60, north: 80, west: -180, east: 180 }
/** Minimum span in degrees that is shown at first. */
const LEAST_SPAN = 0.02
const MAX_SCALE = 200_000
const MIN_SCALE = 0.5

/** A view of all points, or of the world if there are none. */
export function viewOf(points: readonly GeoPoint[], { width, height }: Size): MapView {
  const { south, north, west, east } = areaOf(points) ?? WORLD
  const latitude = (south + north) / 2
  const narrowing = Math.max(0.2, Math.cos((latitude / 180) * Math.PI))
  const [high, wide] = [Math.max(LEAST_SPAN, north - south) * 1.1, Math.max(LEAST_SPAN, east - west) * narrowing * 1.1]
  return { longitude: (west + east) / 2, latitude, narrowing, scale: bounded(Math.min(height / high, width / wide)) }
}

function areaOf(points: readonly GeoPoint[]): Area | undefined {
  if (points.length === 0) return undefined
  let [south, north, west, east] = [90, -90, 180, -180]
  for (const { latitude, longitude } of points) {
    south = Math.min(south, latitude)
    north = Math.max(north, latitude)
    west = Math.min(west, longitude)
    east = Math.max(east, longitude)
  }
  return { south, north, west, east }
}

const bounded = (scale: number): number => Math.min(MAX_SCALE, Math.max(MIN_SCALE, scale))

export const xOf = ({ longitude, scale, narrowing }: MapView, { width }: Size, degrees: number): number =>
  width / 2 + (degrees - longitude) * scale * narrowing
export const yOf = ({ latitude, scale }: MapView, { height }: Size, degrees: number): number =>
  height / 2 - (degrees - latitude) * scale

export const longitudeAt = ({ longitude, scale, narrowing }: MapView, { width }: Size, x: number): number =>
  longitude + (x - width / 2) / (scale * narrowing)
export const latitudeAt = ({ latitude, scale }: MapView, { height }: Size, y: number): number =>
  latitude - (y - height / 2) / scale

/** The view moved by a number of pixels. */
export const moveView = (view: MapView, x: number, y: number): MapView => ({
  ...view,
  longitude: view.longitude + x / (view.scale * view.narrowing),
  latitude: Math.max(-90, Math.min(90, view.latitude - y / view.scale)),
})

/** The view enlarged by a factor, with the place at `x` and `y` fixed. */
export function enlargeView(
  view: MapView,
  size: Size,
  factor: number,
  x = size.width / 2,
  y = size.height / 2,
): MapView {
  const scale = bounded(view.scale * factor)
  return {
    ...view,
    scale,
    longitude: longitudeAt(view, size, x) - (x - size.width / 2) / (scale * view.narrowing),
    latitude: latitudeAt(view, size, y) + (y - size.height / 2) / scale,
  }
}

/** The area between two corners of a rectangle on the picture. */
export function areaBetween(
  view: MapView,
  size: Size,
  a: readonly [number, number],
  b: readonly [number, number],
): Area {
  return {
    west: longitudeAt(view, size, Math.min(a[0], b[0])),
    east: longitudeAt(view, size, Math.max(a[0], b[0])),
    north: latitudeAt(view, size, Math.min(a[1], b[1])),
    south: latitudeAt(view, size, Math.max(a[1], b[1])),
  }
}

/** The point drawn nearest to a position, at most `distance` pixels from it. */
export function nearest(
  points: readonly GeoPoint[],
  view: MapView,
  size: Size,
  x: number,
  y: number,
  distance: number,
): GeoPoint | undefined {
  let best: GeoPoint | undefined
  let least = distance
  for (const point of points) {
    const away = Math.hypot(xOf(view, size, point.longitude) - x, yOf(view, size, point.latitude) - y)
    if (away > least) continue
    best = point
    least = away
  }
  return best
}

/** Multiples of a step in degrees between two limits. */
export function degreesBetween(from: number, to: number, step: number): number[] {
  const first = Math.ceil(from / step - 1e-9)
  return Array.from({ length: Math.max(0, Math.floor(to / step + 1e-9) - first + 1) }, (_, i) =>
    Number(((first + i) * step).toPrecision(12)),
  )
}

const LATITUDE = /^(.*?)(?:latitude|lat)$/i
const LONGITUDES = ['longitude', 'lng', 'lon', 'long']

/** Names of two numeric attributes that seem to be a latitude and the corresponding longitude. */
export function coordinatesOf(numbers: readonly Attribute[]): { latitude: string; longitude: string } | undefined {
  for (const { name: latitude, minValue, maxValue } of numbers) {
    const prefix = LATITUDE.exec(latitude)?.[1]
    if (prefix === undefined || (minValue ?? -90) < -90 || (maxValue ?? 90) > 90) continue
    const names = LONGITUDES.map(each => (prefix + each).toLowerCase())
    const longitude = numbers.find(({ name }) => names.includes(name.toLowerCase()))
    if (longitude) return { latitude, longitude: longitude.name }
  }
  return undefined
}
