/** Places of the entities of a selection. */
import { createSet, parametersOf, pathOf, type Selection } from '../base/selection.ts'
import { type Parameters, read } from '../base/rest.ts'
import { inTurns } from './in-turns.ts'
import type { GeoPoint } from './map-view.ts'

const PAGE = 500
const MAX_POINTS = 20_000
/** Rows per page of a sample: few, since neighbouring rows are often from one place. */
const SAMPLE_PAGE = 100
const SET_SECONDS = 60

interface Points {
  readonly points: readonly GeoPoint[]
  /** Number of entities in the selection. */
  readonly total: number
  /** Number of entities that were read; if there are too many, a sample from the whole selection. */
  readonly count: number
}

interface Page {
  readonly __COUNT: number
  readonly __ENTITIES: readonly Readonly<Record<string, unknown>>[]
}

export async function loadPoints(
  selection: Selection,
  latitude: string,
  longitude: string,
  signal: AbortSignal,
  report: (progress: number) => void,
): Promise<Points> {
  const attributeParameters = { $attributes: `${latitude},${longitude}` }
  const selectionParameters = { ...parametersOf(selection), $orderby: undefined }
  const load = ($skip: number): Promise<Page> =>
    read(pathOf(selection), { ...selectionParameters, ...attributeParameters, $top: PAGE, $skip }, signal)
  const first = await load(0)
  const total = first.__COUNT
  const pages =
    total > MAX_POINTS
      ? await loadSample(selection, { ...selectionParameters, ...attributeParameters }, total, signal, report)
      : [first, ...(await inTurns(placesOf(Math.ceil(total / PAGE), PAGE).slice(1), load, report))]
  const entities = pages.flatMap(page => page.__ENTITIES)
  const points = entities.flatMap(entity => {
    const point = {
      key: String(entity.__KEY),
      latitude: degreesOf(entity, latitude),
      longitude: degreesOf(entity, longitude),
    }
    return Math.abs(point.latitude) <= 90 && Math.abs(point.longitude) <= 180 ? [point] : []
  })
  return { points, total, count: entities.length }
}

/** Reads small pages from the whole selection, through an entity set, so that the filter is executed only once. */
async function loadSample(
  selection: Selection,
  { $attributes, ...selectionParameters }: Parameters,
  total: number,
  signal: AbortSignal,
  report: (progress: number) => void,
): Promise<Page[]> {
  const set = await createSet(selection, selectionParameters, SET_SECONDS, signal)
  const count = MAX_POINTS / SAMPLE_PAGE
  const load = ($skip: number): Promise<Page> => read(set, { $attributes, $top: SAMPLE_PAGE, $skip }, signal)
  return inTurns(placesOf(count, total / count), load, report)
}

const placesOf = (count: number, step: number): number[] =>
  Array.from({ length: count }, (_, i) => Math.floor(i * step))

/** @returns NaN if the value is not a number */
function degreesOf(entity: Readonly<Record<string, unknown>>, path: string): number {
  let value: unknown = entity
  for (const step of path.split('.')) value = (value as Record<string, unknown> | null | undefined)?.[step]
  return typeof value === 'number' ? value : Number.NaN
}
