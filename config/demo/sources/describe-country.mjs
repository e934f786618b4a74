/** Text about a country, composed of its facts: something long to read and to search. */
import { enumerate } from './text.mjs'

const grouped = number => String(number).replace(/\B(?=(\d{3})+(?!\d))/g, ',')

/** @returns two paragraphs of English: the land, then its people */
export function describeCountry(country, source, neighbours, areaRank) {
  return [
    [status(country, source), capitals(country), area(country, areaRank), borders(country, neighbours)],
    [people(country), languages(country), currencies(country), membership(country), otherNames(country)],
  ]
    .map(sentences => sentences.filter(Boolean).join(' '))
    .join('\n\n')
}

function status({ name, officialName, independent, landlocked }, { region, subregion }) {
  const adjective = landlocked ? 'landlocked ' : ''
  const noun = {
    true: 'independent country',
    false: 'territory without full independence',
    null: 'country of disputed status',
  }
  const article = independent && !adjective ? 'an' : 'a'
  const official = officialName === name ? '' : `, officially ${officialName},`
  const place = subregion || `the ${region}`
  return `${name}${official} is ${article} ${adjective}${noun[independent]} in ${place}.`
}

function capitals({ info: { capitals } }) {
  if (capitals.length === 0) return 'It has no capital.'
  const names = enumerate(capitals).replace(/\.$/, '')
  return capitals.length === 1 ? `Its capital is ${names}.` : `Its capitals are ${names}.`
}

const area = ({ area }, rank) => area && `It covers ${grouped(area)} km², which makes it number ${rank} of all by area.`

function borders({ landlocked }, neighbours) {
  if (neighbours.length === 0) return 'It has no land border.'
  const names = enumerate(neighbours.map(({ name }) => name.common))
  const sea = landlocked ? 'It has no coast' : 'By land'
  if (neighbours.length === 1) return `${sea}${landlocked ? ' and' : ' it'} borders ${names} only.`
  const largest = neighbours.toSorted((a, b) => b.area - a.area)[0].name.common
  return `${sea}${landlocked ? ' and' : ' it'} borders ${names}; ${largest} is the largest of these neighbours.`
}

const people = ({ population, lifeExpectancy, incomePerPerson }) =>
  population &&
  `Some ${grouped(population)} people live there, with a life expectancy of ${lifeExpectancy} years and a yearly income of ${grouped(incomePerPerson)} international dollars per person.`

function languages({ info: { languages, demonym } }) {
  const names = languages.map(({ name }) => name)
  if (names.length === 0) return 'It has no official language.'
  const subject = names.length === 1 ? 'The official language is' : 'The official languages are'
  return `${subject} ${enumerate(names)}${demonym ? `, and the demonym is ${demonym}` : ''}.`
}

function currencies({ info: { currencies } }) {
  return currencies.length > 0 && `One pays with ${enumerate(currencies.map(({ name, code }) => `${name} (${code})`))}.`
}

function membership({ unMember, info: { callingCode, topLevelDomains } }) {
  const nations = `It is ${unMember ? '' : 'not '}a member of the United Nations`
  return [
    `${nations}.`,
    callingCode && `Its calling code is ${callingCode}.`,
    topLevelDomains.length > 0 && `Its internet addresses end in ${enumerate(topLevelDomains)}.`,
  ]
    .filter(Boolean)
    .join(' ')
}

const otherNames = ({ info: { translations } }) =>
  `It is known as ${translations.deu} in German, ${translations.fra} in French and ${translations.spa} in Spanish.`
