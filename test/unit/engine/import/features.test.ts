/** Features of GeoJSON as rows. */
import t from 'tap'
import { type GeometryColumns, guessGeometryColumns, rowOfFeature } from '../../../../engine/import/features.ts'

const POINTS: GeometryColumns = { hasPoints: true, hasAltitude: false, hasGeometry: false }
const OBJECTS: GeometryColumns = { hasPoints: false, hasAltitude: false, hasGeometry: true }
const ALL: GeometryColumns = { hasPoints: true, hasAltitude: true, hasGeometry: true }
const NONE: GeometryColumns = { hasPoints: false, hasAltitude: false, hasGeometry: false }

const POINT = '{"type":"Point","coordinates":[8.50,47.1234567890123456]}'
const HIGH = '{"type":"Point","coordinates":[8.5, 47 , 400]}'
const LINE = '{"type":"LineString","coordinates":[[1,2],[3,4]]}'
const feature = (geometry: string, properties = '{}', more = ''): string =>
  `{"type":"Feature","geometry":${geometry},"properties":${properties}${more}}`

const rows: { text: string; columns: GeometryColumns; row: string }[] = [
  {
    text: feature(POINT, '{"a":1.10}'),
    columns: POINTS,
    row: '{"a":1.10,"longitude":8.50,"latitude":47.1234567890123456}',
  },
  { text: feature(POINT), columns: OBJECTS, row: `{"geometry":${POINT}}` },
  { text: feature(LINE, 'null'), columns: OBJECTS, row: `{"geometry":${LINE}}` },
  { text: feature('null'), columns: POINTS, row: '{"longitude":null,"latitude":null}' },
  { text: feature('null'), columns: OBJECTS, row: '{"geometry":null}' },
  { text: '{"type":"Feature","properties":{"a":1}}', columns: NONE, row: '{"a":1}' },
  { text: feature('{"type":"Point","coordinates":[]}'), columns: POINTS, row: '{"longitude":null,"latitude":null}' },
  {
    text: feature(LINE),
    columns: ALL,
    row: `{"longitude":null,"latitude":null,"geometry":${LINE},"altitude":null}`,
  },
  { text: feature(HIGH), columns: ALL, row: `{"longitude":8.5,"latitude":47,"altitude":400,"geometry":${HIGH}}` },
  // Members of the feature itself.
  {
    text: feature(POINT, '{"a":1}', ',"id":"x/1","bbox":[1,2],"title":{"b":2}'),
    columns: POINTS,
    row: '{"id":"x/1","title":{"b":2},"a":1,"longitude":8.50,"latitude":47.1234567890123456}',
  },
  { text: feature('null', '{"id":7}'), columns: NONE, row: '{"id":7}' },
  // Names that are there twice.
  { text: feature('null', '{"id":7}', ',"id":8'), columns: NONE, row: '{"id":8,"properties.id":7}' },
  { text: feature('null', '{"id":7.0,"b":1}', ',"id":7'), columns: NONE, row: '{"id":7,"b":1}' },
  { text: feature('null', '{"id":null}', ',"id":7'), columns: NONE, row: '{"id":7}' },
  {
    text: feature('null', '{"id":9007199254740993}', ',"id":9007199254740992'),
    columns: NONE,
    row: '{"id":9007199254740992,"properties.id":9007199254740993}',
  },
  {
    text: feature(POINT, '{"longitude":8.5,"latitude":47,"geometry":"x","altitude":3}'),
    columns: POINTS,
    row: '{"properties.latitude":47,"properties.geometry":"x","altitude":3,"longitude":8.50,"latitude":47.1234567890123456}',
  },
  {
    text: feature(LINE, '{"longitude":8.5}'),
    columns: OBJECTS,
    row: `{"properties.longitude":8.5,"geometry":${LINE}}`,
  },
  {
    text: feature(HIGH, '{"altitude":3}'),
    columns: { ...POINTS, hasAltitude: true },
    row: '{"properties.altitude":3,"longitude":8.5,"latitude":47,"altitude":400}',
  },
  // Members of an error file.
  {
    text: '{"__LINE":3,"__ERROR":"x","type":"Feature","properties":{"a":1},"geometry":null}',
    columns: NONE,
    row: '{"a":1}',
  },
]

t.test('a feature is a row of its properties, its id and its geometry', t => {
  for (const { text, columns, row } of rows) t.equal(rowOfFeature(text, columns), row, text)
  t.end()
})

const refused: [string, GeometryColumns, RegExp][] = [
  ['{"a":1}', POINTS, /a row of GeoJSON is a feature, with "type": "Feature", and has no type/],
  ['{"type":"Point","coordinates":[1,2]}', POINTS, /and not "Point"/],
  [feature('7'), POINTS, /the geometry of a feature is an object or null, and not 7/],
  [feature('{}'), OBJECTS, /the geometry of the feature has no type/],
  [feature('null', '[1]'), POINTS, /the properties of a feature are an object or null, and not \[1\]/],
  [
    feature(LINE),
    POINTS,
    /the geometry is a LineString, and longitude and latitude hold only points: .* --column geometry= leaves it out/,
  ],
  [feature(POINT), NONE, /the geometry is a Point, and there is no attribute for it/],
  [feature(HIGH), POINTS, /has an altitude, and there is no attribute for it: --column altitude= leaves it out/],
  [feature('{"type":"Point"}'), POINTS, /coordinates of a point are two or three numbers, and not null/],
  [feature('{"type":"Point","coordinates":["8",47]}'), POINTS, /two or three numbers/],
  [feature('{"type":"Point","coordinates":[8]}'), POINTS, /two or three numbers/],
  [feature('{"type":"Point","coordinates":[1,2,3,4]}'), POINTS, /two or three numbers/],
  [feature(POINT, '{}', ',"longitude":1'), POINTS, /the feature has "longitude" beside its geometry/],
  [feature('null', '{"id":1,"properties.id":2}', ',"id":3'), NONE, /two values for the column "properties\.id"/],
]
t.test('what cannot be a row without a loss is refused', t => {
  for (const [text, columns, message] of refused) t.throws(() => rowOfFeature(text, columns), { message }, text)
  t.end()
})

t.test('points are longitude and latitude, other and mixed geometries are objects', t => {
  const cases: [string[], GeometryColumns][] = [
    [[], NONE],
    [[feature('null'), 'nonsense', '[1]', '{"__proto__":1}'], NONE],
    [[feature(POINT), feature('null')], POINTS],
    [[feature(POINT), feature(HIGH)], { ...POINTS, hasAltitude: true }],
    [[feature(LINE)], OBJECTS],
    [[feature(POINT), feature(LINE)], OBJECTS],
  ]
  for (const [features, columns] of cases) t.strictSame(guessGeometryColumns(features), columns)
  t.end()
})
