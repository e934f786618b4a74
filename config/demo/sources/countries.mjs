/**
 * Region, Country and Border rows from `world-countries`, with flags from `svg-country-flags` and the population,
 * income and life expectancy of Gapminder from `vega-datasets`.
 */
import { readFile } from 'node:fs/promises'
import { parse } from 'csv-parse/sync'
import { describeCountry } from './describe-country.mjs'
import { compareText, fold } from './text.mjs'

/** Names in the Gapminder table that `world-countries` lacks, even as alternative spellings. */
const GAPMINDER_NAMES = {
  CD: 'Congo, Dem. Rep.',
  CG: 'Congo, Rep.',
  FM: 'Micronesia, Fed. Sts.',
  LC: 'St. Lucia',
  MK: 'Macedonia, FYR',
  PS: 'West Bank and Gaza',
  TR: 'Turkey',
  VC: 'St. Vincent and the Grenadines',
}

export async function countryRows(modules) {
  const sources = JSON.parse(await readFile(new URL('world-countries/countries.json', modules), 'utf8'))
  const gapminder = await readGapminder(new URL('vega-datasets/data/gapminder-health-income.csv', modules), sources)
  const byCode3 = new Map(sources.map(source => [source.cca3, source]))
  // A border across a strait is listed by one country only: a land border is listed by both.
  const neighboursOf = source =>
    source.borders
      .map(code3 => byCode3.get(code3))
      .filter(neighbour => neighbour.borders.includes(source.cca3))
      .sort((a, b) => compareText(a.name.common, b.name.common))
  const areaRank = new Map(sources.toSorted((a, b) => b.area - a.area).map((source, index) => [source.cca2, index + 1]))

  const countries = []
  for (const source of sources.toSorted((a, b) => compareText(a.name.common, b.name.common))) {
    const flag = await readFile(new URL(`svg-country-flags/png100px/${source.cca2.toLowerCase()}.png`, modules))
    const figures = gapminder.get(source.cca2)
    const country = {
      code: source.cca2,
      code3: source.cca3,
      numericCode: source.ccn3 || null,
      olympicCode: source.cioc || null,
      name: source.name.common,
      officialName: source.name.official,
      capital: source.capital.join(', ') || null,
      area: source.area > 0 ? source.area : null,
      population: figures ? Number(figures.population) : null,
      incomePerPerson: figures ? Number(figures.income) : null,
      lifeExpectancy: figures ? Number(figures.health) : null,
      landlocked: source.landlocked,
      independent: source.independent,
      // The source counts the Holy See, which is only an observer.
      unMember: source.unMember && source.cca2 !== 'VA',
      latitude: roundDegrees(source.latlng[0]),
      longitude: roundDegrees(source.latlng[1]),
      info: countryInfo(source),
      description: '',
      flag: `data:image/png;base64,${flag.toString('base64')}`,
      regionCode: regionCode(source.subregion || source.region),
    }
    country.description = describeCountry(country, source, neighboursOf(source), areaRank.get(source.cca2))
    countries.push(country)
  }

  const sourceOf = new Map(sources.map(source => [source.cca2, source]))
  const borders = countries
    .flatMap(({ code }) =>
      neighboursOf(sourceOf.get(code)).map(({ cca2 }) => ({ countryCode: code, neighbourCode: cca2 })),
    )
    .map((border, index) => ({ ID: index + 1, ...border }))
  return { Region: regionRows(sources), Country: countries, Border: borders }
}

const roundDegrees = degrees => Number(degrees.toFixed(4))
const regionCode = name => fold(name).replaceAll(' ', '-')

/** Rows of regions, continents first: a subregion refers to its continent. Antarctica has no subregion. */
function regionRows(sources) {
  const continents = [...new Set(sources.map(({ region }) => region))].sort(compareText)
  const continentOf = new Map(
    sources.filter(({ subregion }) => subregion).map(({ subregion, region }) => [subregion, region]),
  )
  return [
    ...continents.map(name => ({ code: regionCode(name), name, parentCode: null })),
    ...[...continentOf.keys()]
      .sort(compareText)
      .map(name => ({ code: regionCode(name), name, parentCode: regionCode(continentOf.get(name)) })),
  ]
}

function countryInfo({
  currencies,
  languages,
  translations,
  name,
  demonyms,
  idd,
  tld,
  altSpellings,
  capital,
  unRegionalGroup,
}) {
  return {
    currencies: Object.entries(currencies).map(([code, currency]) => ({ code, ...currency })),
    languages: Object.entries(languages).map(([code, language]) => ({ code, name: language })),
    capitals: capital,
    ...(demonyms.eng.m && { demonym: demonyms.eng.m }),
    ...(idd.root && { callingCode: callingCode(idd) }),
    ...(unRegionalGroup && { unRegionalGroup }),
    topLevelDomains: tld,
    nativeNames: Object.fromEntries(Object.entries(name.native).map(([code, native]) => [code, native.common])),
    translations: Object.fromEntries(Object.entries(translations).map(([code, { common }]) => [code, common])),
    altSpellings,
  }
}

/** Calling code. +1 and +7 are shared by several countries, whose suffixes are area codes; elsewhere the first suffix completes the code. */
const callingCode = ({ root, suffixes }) =>
  suffixes.length > 1 && (root === '+1' || root === '+7') ? root : `${root}${suffixes[0] ?? ''}`

async function readGapminder(file, sources) {
  const table = parse(await readFile(file), { columns: true })
  const namesOf = ({ cca2, name, altSpellings }) =>
    [name.common, GAPMINDER_NAMES[cca2], name.official, ...altSpellings].filter(Boolean).map(fold)
  const entries = table.map(row => {
    const country =
      sources.find(({ name }) => fold(name.common) === fold(row.country)) ??
      sources.find(source => namesOf(source).includes(fold(row.country)))
    if (!country) throw new Error(`no country is called "${row.country}"; add it to GAPMINDER_NAMES`)
    return [country.cca2, row]
  })
  return new Map(entries)
}
