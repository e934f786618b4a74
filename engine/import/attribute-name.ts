import { nameProblem } from '../catalog/names.ts'

const MAX_LENGTH = 60
/** Words that stay in capitals: `ID`, `VAT`. */
const ABBREVIATION = /^\p{Lu}{2,3}$/u

/**
 * Name of an attribute for the header of a column: its words, without characters that a name cannot have. `Birth date`, `Birth_Date` and
 * `BIRTH DATE` become `birthDate`; a name that begins with a lower-case letter stays unchanged.
 * @returns an empty string if nothing of the header remains
 */
export function attributeName(header: string): string {
  const text = header.trim().normalize('NFC')
  if (nameProblem(text) === undefined && /^\p{Ll}/u.test(text)) return text
  const words = text.split(/[^\p{L}\p{M}\p{N}]+/u).filter(word => word !== '')
  const name = words.map(nameWord).join('').slice(0, MAX_LENGTH)
  if (name === '') return ''
  const legal = /^\p{L}/u.test(name) ? name : `_${name}`
  return nameProblem(legal) === undefined ? legal : `${legal}Value`
}

function nameWord(word: string, index: number): string {
  if (ABBREVIATION.test(word)) return word
  const isCapitals = word === word.toUpperCase()
  const tail = isCapitals ? word.slice(1).toLowerCase() : word.slice(1)
  return (index === 0 ? word.charAt(0).toLowerCase() : word.charAt(0).toUpperCase()) + tail
}
