/** A place in degrees. */
interface Place {
  readonly latitude: number
  readonly longitude: number
}

export interface Box {
  readonly south: number
  readonly north: number
  /** Greater than `east` if the box crosses the 180th meridian. */
  readonly west: number
  readonly east: number
}

const radians = (degrees: number): number => (degrees * Math.PI) / 180
const degrees = (angle: number): number => (angle * 180) / Math.PI

/** Great-circle distance on a sphere with that radius, by the haversine formula. */
export function distance(a: Place, b: Place, radius: number): number {
  const [latitude, longitude] = [radians(b.latitude - a.latitude), radians(b.longitude - a.longitude)]
  const h =
    Math.sin(latitude / 2) ** 2 +
    Math.cos(radians(a.latitude)) * Math.cos(radians(b.latitude)) * Math.sin(longitude / 2) ** 2
  return 2 * radius * Math.asin(Math.min(1, Math.sqrt(h)))
}

/** The smallest box along meridians and parallels that contains every place within a distance. */
export function boxAround({ latitude, longitude }: Place, reach: number, radius: number): Box {
  const angle = reach / radius
  const [south, north] = [latitude - degrees(angle), latitude + degrees(angle)]
  // Near a pole every longitude is within reach.
  if (south <= -90 || north >= 90)
    return { south: Math.max(-90, south), north: Math.min(90, north), west: -180, east: 180 }
  const width = degrees(Math.asin(Math.sin(angle) / Math.cos(radians(latitude))))
  const wrapped = (value: number): number => ((((value + 180) % 360) + 360) % 360) - 180
  return { south, north, west: wrapped(longitude - width), east: wrapped(longitude + width) }
}
