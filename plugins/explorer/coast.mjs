/**
 * Generates `coast.json`, the coast lines of the map, from the topology of Natural Earth (1:110 million, public domain) in
 * `vega-datasets`: `node plugins/explorer/coast.mjs`.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'

const TOPOLOGY = new URL('../../node_modules/vega-datasets/data/world-110m.json', import.meta.url)
/** Steps per degree. */
const PRECISION = 10

/**
 * Outlines of land: for each the longitude and latitude of its first point in tenths of degrees, then the steps to the next points.
 * @returns {Promise<string>} JSON
 */
export async function coastLines() {
  const { arcs, objects, transform } = JSON.parse(await readFile(TOPOLOGY, 'utf8'))
  const lines = arcs.map(arc => pointsOf(arc, transform))
  const rings = objects.land.arcs.flat().map(ring => steps(joined(ring, lines)))
  // Islands smaller than a step have no points left.
  return JSON.stringify(rings.filter(({ length }) => length > 6))
}

/** Points of an arc, decoded from steps. */
function pointsOf(arc, { scale, translate }) {
  let [x, y] = [0, 0]
  return arc.map(([dx, dy]) => {
    x += dx
    y += dy
    return [x * scale[0] + translate[0], y * scale[1] + translate[1]]
  })
}

/** Concatenates arcs; a negative index means a reversed arc. The last point of each arc is the first of the next. */
const joined = (ring, lines) =>
  ring.flatMap((index, i) => {
    const points = index < 0 ? lines[~index].toReversed() : lines[index]
    return i === 0 ? points : points.slice(1)
  })

function steps(points) {
  let last = [0, 0]
  return points.flatMap((point, i) => {
    const place = point.map(degrees => Math.round(degrees * PRECISION))
    const [dx, dy] = [place[0] - last[0], place[1] - last[1]]
    if (i > 0 && dx === 0 && dy === 0) return []
    last = place
    return [dx, dy]
  })
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  await writeFile(new URL('coast.json', import.meta.url), await coastLines())
}
