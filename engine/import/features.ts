import { parse } from 'secure-json-parse'
import { isSameNumber } from '../base/decimal-digits.ts'
import { isJsonObject, ownMember } from '../base/json-object.ts'
import { excerpt } from '../base/text/excerpt.ts'
import type { DataClass } from '../catalog/dataclass.ts'
import type { StorageModel } from '../catalog/model-schema.ts'
import { memberTexts } from './member-texts.ts'
import { isReason } from './rejected-source.ts'

/** Columns that hold the geometry of features. */
export interface GeometryColumns {
  /** Longitude and latitude of points. */
  readonly hasPoints: boolean
  /** Altitude of points. */
  readonly hasAltitude: boolean
  /** Geometries as objects. */
  readonly hasGeometry: boolean
}

const [LONGITUDE, LATITUDE, ALTITUDE, GEOMETRY] = ['longitude', 'latitude', 'altitude', 'geometry']
/** Columns whose names properties cannot have. A point without an altitude leaves that name to a property. */
const OF_GEOMETRY: ReadonlySet<string> = new Set([LONGITUDE, LATITUDE, GEOMETRY])
/** Members of a feature that do not become columns. */
const NO_COLUMNS: ReadonlySet<string> = new Set(['type', 'properties', 'geometry', 'bbox'])

/** Type of a column with a part of a geometry; undefined for other columns. */
export function geometryType(name: string, columns: GeometryColumns): StorageModel | undefined {
  if (columns.hasPoints && (name === LONGITUDE || name === LATITUDE)) return { type: 'number' }
  if (columns.hasAltitude && name === ALTITUDE) return { type: 'number' }
  return columns.hasGeometry && name === GEOMETRY ? { type: 'object' } : undefined
}

/**
 * Columns for the geometries of the entities of a dataclass: those for which it has attributes, or that are left out.
 * @param attributeOf attribute of a column; null if it is left out
 */
export function geometryColumnsOf(
  { attributesByName }: DataClass,
  attributeOf: (column: string) => string | null,
): GeometryColumns {
  const has = (column: string): boolean => {
    const attribute = attributeOf(column)
    return attribute === null || attributesByName.has(attribute)
  }
  return {
    hasPoints: has(LONGITUDE) && has(LATITUDE),
    hasAltitude: has(ALTITUDE),
    hasGeometry: has(GEOMETRY),
  }
}

/** Columns for the geometries of some features: longitude and latitude if all are points, otherwise objects. */
export function guessGeometryColumns(features: readonly string[]): GeometryColumns {
  const geometries = features.map(geometryOf).filter(geometry => geometry !== undefined)
  const isPoints = geometries.length > 0 && geometries.every(({ type }) => type === 'Point')
  return {
    hasPoints: isPoints,
    hasAltitude: isPoints && geometries.some(({ coordinates: c }) => Array.isArray(c) && c.length > 2),
    hasGeometry: geometries.length > 0 && !isPoints,
  }
}

/** The geometry of a feature; undefined if it has none, or is not a feature. */
function geometryOf(text: string): Record<string, unknown> | undefined {
  try {
    const geometry = ownMember(parse(text) as object, GEOMETRY)
    return isJsonObject(geometry) ? geometry : undefined
  } catch {
    return undefined
  }
}

/**
 * The row of a feature, as JSON with the texts of its values unchanged: its `id` and other members, its properties, and its geometry. A
 * property whose name is taken by one of the others is `properties.name`, unless it is null or both have the same value.
 * @param text known to be a JSON object
 * @throws {Error} it is not a feature, or the columns cannot hold its geometry
 */
export function rowOfFeature(text: string, columns: GeometryColumns): string {
  const members = memberTexts(text)
  const type = members.get('type')
  if (type === undefined || JSON.parse(type) !== 'Feature')
    throw new Error(
      `a row of GeoJSON is a feature, with "type": "Feature", and ${type ? `not ${excerpt(type)}` : 'has no type'}`,
    )
  const geometry = geometryMembers(members.get('geometry') ?? 'null', columns)
  const row = new Map<string, string>()
  for (const [name, value] of members) {
    if (NO_COLUMNS.has(name) || isReason(name)) continue
    if (OF_GEOMETRY.has(name) || geometry.has(name))
      throw new Error(`the feature has ${JSON.stringify(excerpt(name))} beside its geometry`)
    row.set(name, value)
  }
  const own = new Map([...row, ...geometry])
  for (const [name, value] of propertiesIn(members.get('properties') ?? 'null')) {
    const ownValue = own.get(name)
    if (ownValue === undefined && !OF_GEOMETRY.has(name)) add(row, name, value)
    else if (value !== 'null' && (ownValue === undefined || !isSame(value, ownValue)))
      add(row, `properties.${name}`, value)
  }
  for (const [name, value] of geometry) add(row, name, value)
  if (columns.hasAltitude && !row.has(ALTITUDE)) row.set(ALTITUDE, 'null')
  return `{${Array.from(row, ([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`
}

function add(row: Map<string, string>, name: string, value: string): void {
  if (row.has(name)) throw new Error(`the feature has two values for the column ${JSON.stringify(excerpt(name))}`)
  row.set(name, value)
}

const isSame = (one: string, other: string): boolean => one === other || isSameNumber(one, other)

function propertiesIn(text: string): ReadonlyMap<string, string> {
  if (text.startsWith('{')) return memberTexts(text)
  if (text === 'null') return new Map()
  throw new Error(`the properties of a feature are an object or null, and not ${excerpt(text)}`)
}

/** Columns of a geometry. */
function geometryMembers(text: string, { hasPoints, hasAltitude, hasGeometry }: GeometryColumns): Map<string, string> {
  const found = new Map<string, string>()
  if (text !== 'null' && !text.startsWith('{'))
    throw new Error(`the geometry of a feature is an object or null, and not ${excerpt(text)}`)
  const members = text === 'null' ? undefined : memberTexts(text)
  const type: unknown = members && JSON.parse(members.get('type') ?? 'null')
  if (members && typeof type !== 'string') throw new Error('the geometry of the feature has no type')
  if (members && !hasGeometry && (!hasPoints || type !== 'Point')) {
    const why = hasPoints ? 'longitude and latitude hold only points' : 'there is no attribute for it'
    throw new Error(
      `the geometry is a ${excerpt(String(type))}, and ${why}: an attribute geometry of type object holds any geometry, --column geometry= leaves it out`,
    )
  }
  if (hasPoints) {
    const [longitude = 'null', latitude = 'null', altitude] = type === 'Point' ? positionIn(members!) : []
    found.set(LONGITUDE, longitude).set(LATITUDE, latitude)
    if (altitude !== undefined && hasAltitude) found.set(ALTITUDE, altitude)
    else if (altitude !== undefined && !hasGeometry)
      throw new Error('the point has an altitude, and there is no attribute for it: --column altitude= leaves it out')
  }
  if (hasGeometry) found.set(GEOMETRY, text)
  return found
}

/** Coordinates of a point as they are written; none if it is empty. */
function positionIn(members: ReadonlyMap<string, string>): string[] {
  const text = members.get('coordinates') ?? 'null'
  const position: unknown = JSON.parse(text)
  const isPosition = Array.isArray(position) && position.every(each => typeof each === 'number')
  if (!isPosition || position.length === 1 || position.length > 3)
    throw new Error(`the coordinates of a point are two or three numbers, and not ${excerpt(text)}`)
  return position.length === 0
    ? []
    : text
        .slice(1, -1)
        .split(',')
        .map(each => each.trim())
}
