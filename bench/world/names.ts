/** Made-up words. The letters are ASCII, so that a case-insensitive index of any database orders them as ours does. */

const CONSONANTS = 'bcdfghjklmnprstv'
const VOWELS = ['ae', 'io', 'au'] as const
export const NAME_COUNT = 32 ** VOWELS.length

/** One of {@link NAME_COUNT} different names of three syllables, in alphabetical order: `Badiku`. */
export function syllableName(n: number): string {
  let name = ''
  for (const [place, vowels] of VOWELS.entries()) {
    const digit = Math.floor(n / 32 ** (VOWELS.length - 1 - place)) % 32
    name += CONSONANTS[digit >>> 1]! + vowels[digit & 1]!
  }
  return name[0]!.toUpperCase() + name.slice(1)
}

/** Common part of two names that differ in the last letter only: n and its neighbour. */
export const namePrefix = (n: number): string => syllableName(n).slice(0, -1)

export const FIRST_NAMES = combinations('Al,Be,Ca,Da,El,Fi,Ga,Ha,Is,Jo', 'bert,lina,mar,nora,rik,sa,ta,vin,wen,zoe')
export const CITIES = combinations(
  'North,South,East,West,New,Old,Upper,Lower',
  'bridge,field,ford,haven,port,stead,ton,wick',
)
export const COUNTRIES = combinations('Bel,Cor,Fal,Mar,Nor,Val', 'andia,ovia,mark,aria')
export const SECTORS = combinations('food,health,travel,energy,media', ' retail, services, research, supply')
export const DEPARTMENTS = combinations(
  'sales,service,finance,research,legal,people,supply,quality',
  ' north, south, east, west, central',
)
const WORDS =
  'about above after again along among around before behind below between beyond during every first found great group later light never often other place point right small sound still their there thing think three under until water where which while world would write young'.split(
    ' ',
  )

/** Words up to about 80 bytes. @param next returns numbers in [0, 1) */
export function sentence(next: (n: number) => number): string {
  let text = ''
  for (let n = 0; text.length < 74; n++) text += `${n === 0 ? '' : ' '}${WORDS[Math.floor(next(n) * WORDS.length)]}`
  return text
}

function combinations(starts: string, ends: string): readonly string[] {
  return starts.split(',').flatMap(start => ends.split(',').map(end => start + end))
}
