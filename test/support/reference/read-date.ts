/** Reads dates character by character, by the table in `plugins/docs/pages/guide/model.md`, without regular expressions: what tests compare the reader with. */

interface NaiveDate {
  readonly ms: number
  /** Midnight UTC of the day as written. */
  readonly day: number
}

const DIGITS = '0123456789'

/** A place in a text. All readers move on only if they have found what they look for. */
class Place {
  at = 0
  constructor(readonly text: string) {}

  get isEnd(): boolean {
    return this.at === this.text.length
  }

  sign(...signs: string[]): string | undefined {
    const found = signs.find(each => each !== '' && this.text.startsWith(each, this.at))
    this.at += found?.length ?? 0
    return found
  }

  /** As many digits as there are, if their number is within the bounds. */
  digits(minimum: number, maximum: number): string | undefined {
    let end = this.at
    while (end < this.text.length && DIGITS.includes(this.text[end]!)) end++
    const found = this.text.slice(this.at, end)
    if (found.length < minimum || found.length > maximum) return undefined
    this.at = end
    return found
  }
}

function naiveDay(year: number, month: number, day: number): number | undefined {
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? date.getTime() : undefined
}

export function naiveDate(written: string): NaiveDate | undefined {
  if (written.length > 64) return undefined
  const text = written.trim()
  for (const marks of ['!!', '!']) {
    const inside = text.slice(marks.length, -marks.length)
    const isLiteral = text.startsWith(marks) && text.endsWith(marks) && inside.length === 10 && inside[4] === '-'
    if (isLiteral && inside[7] === '-' && DIGITS.includes(inside[0]!) && DIGITS.includes(inside[9]!))
      return naiveDate(inside)
  }
  const place = new Place(text)
  return readWhole(place, readDayFirst(place)) ?? readYearFirst(new Place(text))
}

function readDayFirst(place: Place): number | undefined {
  place.sign('!')
  const day = place.digits(1, 2)
  if (!day || !place.sign('!')) return undefined
  const month = place.digits(1, 2)
  if (!month || !place.sign('!')) return undefined
  const sign = place.sign('-') ? -1 : 1
  const year = place.digits(1, 6)
  if (!year) return undefined
  place.sign('!')
  return naiveDay(sign * Number(year), Number(month), Number(day))
}

function readYearFirst(place: Place): NaiveDate | undefined {
  const sign = place.sign('+', '-')
  const digits = sign === '-' ? place.digits(6, 6) : place.digits(4, 6)
  const separator = place.sign('-', '/', '.')
  const month = place.digits(1, 2)
  if (!digits || !separator || !month || !place.sign(separator)) return undefined
  const dayOfMonth = place.digits(1, 2)
  const year = Number(digits)
  if (!dayOfMonth || (sign === '-' && year === 0)) return undefined
  const dayOf = (chosen: number) => naiveDay(chosen, Number(month), Number(dayOfMonth))
  const start = place.at
  const usual = readWhole(place, dayOf(sign === '-' ? -year : year))
  if (usual || sign || separator !== '-' || year === 0 || !place.text.endsWith(' BC')) return usual
  const before = new Place(place.text.slice(0, -' BC'.length))
  before.at = start
  return readWhole(before, dayOf(1 - year))
}

/** The rest of a text after its day: nothing, or a time. */
function readWhole(place: Place, day: number | undefined): NaiveDate | undefined {
  if (day === undefined || Number.isNaN(day)) return undefined
  if (place.isEnd) return { ms: day, day }
  if (!place.sign('T', 't', ' ')) return undefined
  const hour = place.digits(1, 2)
  if (!hour || Number(hour) > 23 || !place.sign(':')) return undefined
  const minute = place.digits(2, 2)
  if (!minute || Number(minute) > 59) return undefined
  let ms = day + Number(hour) * 3_600_000 + Number(minute) * 60_000
  if (place.sign(':')) {
    const second = place.digits(2, 2)
    if (!second || Number(second) > 59) return undefined
    ms += Number(second) * 1000
    if (place.sign('.', ',')) {
      const fraction = place.digits(1, 64)
      if (!fraction) return undefined
      ms += Number(`${fraction}000`.slice(0, 3))
    }
  }
  const offset = place.isEnd ? 0 : readOffset(place)
  const isInRange = offset !== undefined && !Number.isNaN(new Date(ms - offset).getTime())
  return isInRange && place.isEnd ? { ms: ms - offset, day } : undefined
}

function readOffset(place: Place): number | undefined {
  place.sign(' ')
  const sign = place.sign('Z', 'z', '+', '-')
  if (!sign) return undefined
  let offset = 0
  if (sign === '+' || sign === '-') {
    const digits = place.digits(2, 4)
    if (!digits || digits.length === 3) return undefined
    let [minutes, seconds] = [digits.slice(2), '']
    if (minutes === '' && place.sign(':')) {
      minutes = place.digits(2, 2) ?? '99'
      if (place.sign(':')) seconds = place.digits(2, 2) ?? '99'
    }
    if (Number(minutes) > 59 || Number(seconds) > 59) return undefined
    offset = (Number(digits.slice(0, 2)) * 60 + Number(minutes)) * 60_000 + Number(seconds) * 1000
    if (offset > 18 * 3_600_000) return undefined
    if (sign === '-') offset = -offset
  }
  if (!place.sign('[')) return offset
  const end = place.text.indexOf(']', place.at)
  const name = place.text.slice(place.at, end)
  const isName =
    end > place.at &&
    [...name].every(
      each => (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') || `${DIGITS}_+-/:`.includes(each),
    )
  if (!isName) return undefined
  place.at = end + 1
  return offset
}
