/**
 * Queries on the demo data, each as a URL with the answer that the data gives. The answers are computed here in
 * plain JavaScript, so that they check the server instead of repeating its results.
 */
import { compare, fold, words } from './text.mjs'

/** Minimum cosine of matches, as in the plugin `tesser-example-semantic`. */
const MIN_SCORE = 0.3

/**
 * @param rowsOf rows by dataclass
 * @param embed returns the vector of a sentence
 * @returns `{ title, url, count?, first?, value? }`: `count` is `__COUNT`, `first` has attributes of the first or only entity,
 * `value` is a complete answer that is not an entity
 */
export async function answerSamples(rowsOf, embed) {
  const { Region, Country, Border, Province, City, Genre, Director, Movie, Passage } = rowsOf
  const by = (rows, key) => new Map(rows.map(row => [row[key], row]))
  const [regions, countries, provinces] = [by(Region, 'code'), by(Country, 'code'), by(Province, 'code')]
  const [genres, directors] = [by(Genre, 'ID'), by(Director, 'ID')]
  const same = (a, b) => a != null && fold(a) === fold(b)
  const numbers = attribute => Movie.map(movie => movie[attribute]).filter(value => value !== null)
  const sum = values => values.reduce((total, value) => total + value, 0)

  const continentOf = country => regions.get(regions.get(country.regionCode).parentCode)?.name
  const bordering = code =>
    new Set(Border.filter(({ neighbourCode }) => neighbourCode === code).map(row => row.countryCode))
  const besideGermany = bordering('DE')
  const besideFrance = bordering('FR')
  const westernDirectors = new Set(
    Movie.filter(({ genreID }) => genres.get(genreID)?.name === 'Western').map(({ directorID }) => directorID),
  )

  const about = async (sentence, passages = Passage) => {
    const vector = await embed(sentence)
    const scores = new Map(passages.map(row => [row, cosine(row.embedding, vector)]))
    return {
      rows: passages.filter(row => scores.get(row) > MIN_SCORE),
      order: (a, b) => scores.get(b) - scores.get(a),
    }
  }
  const onFlags = Passage.filter(({ topic }) => topic === 'flag')
  const economies = Passage.filter(({ topic }) => topic === 'economy')
  const gambling = new Set((await about('gambling', economies)).rows.map(row => row.countryCode))

  return [
    selection({
      title: 'Cities of Liechtenstein by name, found through the relation',
      url: `/City?$filter="country.name = Liechtenstein"&$orderby="name"`,
      rows: City.filter(({ countryCode }) => countries.get(countryCode).name === 'Liechtenstein'),
      order: text('name'),
      first: ['name', 'countryCode', 'provinceCode'],
    }),
    selection({
      title: 'Passages by meaning, the nearest first',
      url: '/Passage?$filter="meaning = :1"&$params=["Where is it always cold and windy?"]&$attributes=countryName,text',
      ...(await about('Where is it always cold and windy?')),
      first: ['text'],
    }),
    selection({
      title:
        'Places in São Paulo that begin with "Santa", written without accents and capitals, the northernmost first',
      url: `/City?$filter="province.name = 'sao paulo' and name begin santa"&$orderby="latitude desc"&$top=10`,
      rows: City.filter(
        ({ name, provinceCode }) =>
          same(provinces.get(provinceCode)?.name, 'São Paulo') && fold(name).startsWith('santa'),
      ),
      order: (a, b) => b.latitude - a.latitude,
      first: ['name', 'latitude'],
    }),
    selection({
      title: 'Capitals south of the equator, the southernmost first, with their countries',
      url: `/City?$filter="isCapital = true and latitude < 0"&$orderby="latitude"&$attributes=name,latitude,country.name`,
      rows: City.filter(({ isCapital, latitude }) => isCapital && latitude < 0),
      order: (a, b) => a.latitude - b.latitude,
      first: ['name', 'latitude'],
    }),
    selection({
      title: 'Countries that border Germany',
      url: `/Country?$filter="borders.neighbour.name = Germany"&$orderby="name"`,
      rows: Country.filter(({ code }) => besideGermany.has(code)),
      order: text('name'),
      first: ['code', 'name', 'capital'],
    }),
    selection({
      title: 'Countries that border Germany but not France, the smallest first',
      url: `/Country?$filter="borders.neighbour.code = DE except borders.neighbour.code = FR"&$orderby="area"`,
      rows: Country.filter(({ code }) => besideGermany.has(code) && !besideFrance.has(code)),
      order: (a, b) => a.area - b.area,
      first: ['name', 'area'],
    }),
    selection({
      title: 'Landlocked countries of Africa, through two relations',
      url: `/Country?$filter="landlocked = true and region.parent.name = Africa"&$orderby="population desc"`,
      rows: Country.filter(country => country.landlocked && continentOf(country) === 'Africa'),
      order: (a, b) => b.population - a.population,
      first: ['name', 'population'],
    }),
    selection({
      title: 'Countries that pay in euro: a property of the elements of a collection in an object attribute',
      url: `/Country?$filter="info.currencies[].code = EUR"&$orderby="name"&$top=5`,
      rows: Country.filter(({ info }) => info.currencies.some(({ code }) => code === 'EUR')),
      order: text('name'),
      first: ['code', 'name'],
    }),
    selection({
      title: 'A country by its German name',
      url: `/Country?$filter="info.translations.deu = Österreich"`,
      rows: Country.filter(({ info }) => same(info.translations.deu, 'Österreich')),
      first: ['code', 'name', 'population'],
    }),
    {
      title: 'One country by another unique attribute, some attributes only',
      url: '/Country:code3(ISL)/name,capital,population',
      first: pick(
        Country.find(({ code3 }) => code3 === 'ISL'),
        ['name', 'capital', 'population'],
      ),
    },
    selection({
      title: 'Descriptions that hold the words Arabic and French: a search for keywords in long text',
      url: `/Country?$filter="description % arabic and description % french"&$orderby="name"`,
      rows: Country.filter(({ description }) =>
        [' arabic ', ' french '].every(word => words(description).includes(word)),
      ),
      order: text('name'),
      first: ['name'],
    }),
    selection({
      title: 'Movies of Steven Spielberg, the newest first',
      url: `/Movie?$filter="director.name = 'Steven Spielberg'"&$orderby="releaseDate desc"`,
      rows: Movie.filter(({ directorID }) => directors.get(directorID)?.name === 'Steven Spielberg'),
      order: (a, b) => compare(b.releaseDate, a.releaseDate),
      first: ['title', 'releaseDate'],
    }),
    selection({
      title: 'Movies of 1999 by what they made, with dates as parameters',
      url: `/Movie?$filter="releaseDate >= :1 and releaseDate < :2"&$params='["1999-01-01","2000-01-01"]'&$orderby="worldwideGross desc"`,
      rows: Movie.filter(({ releaseYear }) => releaseYear === 1999),
      order: (a, b) => b.worldwideGross - a.worldwideGross,
      first: ['title', 'worldwideGross'],
    }),
    selection({
      title: 'Movies of more than three hours (durations are milliseconds)',
      url: `/Movie?$filter="runtime > 10800000"&$orderby="runtime desc"`,
      rows: Movie.filter(({ runtime }) => runtime > 10_800_000),
      order: (a, b) => b.runtime - a.runtime,
      first: ['title', 'runtime'],
    }),
    selection({
      title: 'Movies with love in the title and no known director, best rated first',
      url: `/Movie?$filter="title = '@love@' and director = null"&$orderby="imdbRating desc, title"`,
      rows: Movie.filter(({ title, directorID }) => fold(title).includes('love') && directorID === null),
      order: (a, b) => b.imdbRating - a.imdbRating || text('title')(a, b),
      first: ['title', 'imdbRating'],
    }),
    selection({
      title: 'Directors who made a Western',
      url: `/Director?$filter="movies.genre.name = Western"&$orderby="name"`,
      rows: Director.filter(({ ID }) => westernDirectors.has(ID)),
      order: text('name'),
      first: ['name'],
    }),
    selection({
      title: 'Weapons on flags, also where they are called otherwise: by meaning and by another condition, with scores',
      url: '/Passage?$filter="topic = flag and meaning = :1"&$params=["a weapon"]&$attributes=countryName,text,countryCode,__SCORE',
      ...(await about('a weapon', onFlags)),
      first: ['text', 'countryCode'],
    }),
    selection({
      title: 'Countries with an economy of gambling, by the meaning of what is said about them',
      url: '/Country?$filter="passages.topic = economy and passages.meaning = gambling"',
      rows: Country.filter(({ code }) => gambling.has(code)),
      first: ['name'],
    }),
    {
      title: 'Gross of all movies together',
      url: '/Movie/worldwideGross/?$compute=sum',
      value: sum(numbers('worldwideGross')),
    },
    {
      title: 'Count, sum, average, lowest and highest budget',
      url: '/Movie/productionBudget/?$compute=$all',
      value: {
        productionBudget: {
          count: numbers('productionBudget').length,
          sum: sum(numbers('productionBudget')),
          average: sum(numbers('productionBudget')) / numbers('productionBudget').length,
          min: numbers('productionBudget').reduce((a, b) => Math.min(a, b)),
          max: numbers('productionBudget').reduce((a, b) => Math.max(a, b)),
        },
      },
    },
    {
      title: 'The most populous country of Oceania',
      url: '/Country/population/?$filter="region.parent.name = Oceania"&$compute=max',
      value: Country.filter(country => continentOf(country) === 'Oceania').reduce(
        (max, { population }) => Math.max(max, population),
        0,
      ),
    },
  ]
}

const text = attribute => (a, b) => compare(fold(a[attribute]), fold(b[attribute]))
const pick = (row, attributes) => Object.fromEntries(attributes.map(attribute => [attribute, row[attribute]]))

const dot = (a, b) => a.reduce((sum, number, i) => sum + number * b[i], 0)
const cosine = (a, b) => dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b))

function selection({ title, url, rows, order, first }) {
  const sorted = order ? rows.toSorted(order) : rows
  if (rows.length === 0) throw new Error(`"${title}" has no answer in the data`)
  if (sorted.length > 1 && !(order(sorted[0], sorted[1]) < 0))
    throw new Error(`"${title}" has no definite first answer`)
  return { title, url, count: rows.length, first: pick(sorted[0], first) }
}
