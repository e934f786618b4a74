/** Movie, Genre, Director and Distributor rows from the movies of `vega-datasets`, with corrections of known errors. */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { compare, compareText } from './text.mjs'

/** Year of the latest films in the source, then announced; its two-digit years made 2015 of 1915. */
const LAST_YEAR = 2011
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const MINUTE_MS = 60_000

/** Characters of Latin-1 titles that were once read as Mac Roman. */
const MISREAD = {
  È: 'é',
  Í: 'ê',
  Ë: 'è',
  Î: 'ë',
  '‡': 'à',
  '·': 'á',
  '‰': 'ä',
  Û: 'ó',
  Ù: 'ô',
  '˘': 'ù',
  Ö: '…',
  Ω: '½',
}

export async function movieRows(modules) {
  const sources = JSON.parse(await readFile(new URL('vega-datasets/data/movies.json', modules), 'utf8'))
  const genres = numbered(sources, source => source['Major Genre'])
  const directors = numbered(sources, source => source.Director)
  const distributors = numbered(sources, distributorOf)

  const Movie = sources
    .map((source, index) => {
      const title = titleOf(source)
      const releaseDate = dateOf(source)
      const runtimeMin = source['Running Time min']
      return {
        ID: uuidOf(`${title}|${releaseDate}`),
        title,
        releaseDate,
        releaseYear: Number(releaseDate.slice(0, 4)),
        runtime: runtimeMin === null ? null : runtimeMin * MINUTE_MS,
        mpaaRating: source['MPAA Rating'] === 'Open' ? null : source['MPAA Rating'],
        source: source.Source,
        creativeType: source['Creative Type'],
        // Zero means an unknown amount.
        usGross: source['US Gross'] || null,
        worldwideGross: source['Worldwide Gross'] || null,
        usDvdSales: source['US DVD Sales'],
        productionBudget: source['Production Budget'],
        rottenTomatoesRating: source['Rotten Tomatoes Rating'],
        imdbRating: source['IMDB Rating'],
        imdbVotes: source['IMDB Votes'],
        sourceRow: index + 1,
        genreID: genres.get(source['Major Genre']) ?? null,
        directorID: directors.get(source.Director) ?? null,
        distributorID: distributors.get(distributorOf(source)) ?? null,
      }
    })
    .sort((a, b) => compareText(a.title, b.title) || compare(a.releaseDate, b.releaseDate))
  return { Genre: namedRows(genres), Director: namedRows(directors), Distributor: namedRows(distributors), Movie }
}

/** Corrects titles: numbers that became JSON numbers, `Secret, The`, double spaces, and a film called Unknown that became null. */
function titleOf({ Title }) {
  return String(Title ?? 'Unknown')
    .replace(/[^ -~]/g, character => MISREAD[character] ?? character)
    .replace(/ {2,}/g, ' ')
    .replace(/^(.*), The$/, 'The $1')
}

/** Converts `Jun 12 1998` to `1998-06-12`. */
function dateOf(source) {
  const [, month, day, year] = /^(\w{3}) (\d\d) (\d{4})$/.exec(source['Release Date'])
  const century = Number(year) > LAST_YEAR ? 100 : 0
  return `${Number(year) - century}-${String(MONTHS.indexOf(month) + 1).padStart(2, '0')}-${day}`
}

const distributorOf = ({ Distributor }) => (Distributor === 'Distributor Unknown' ? null : Distributor)

const uuidOf = text => createHash('sha256').update(text).digest('hex').slice(0, 32).toUpperCase()

const numbered = (sources, nameOf) =>
  new Map([...new Set(sources.map(nameOf).filter(Boolean))].sort(compareText).map((name, index) => [name, index + 1]))

const namedRows = numbers => [...numbers].map(([name, ID]) => ({ ID, name }))
