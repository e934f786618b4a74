/** Texts of the page in the languages that it speaks. Each room has a dictionary of its own, in `texts.ts` of its folder. */
import { computed, effect, signal } from '@preact/signals'
import { remembered } from './remembered.ts'

/** A text, or one for each number: `{ one: '{count} row', other: '{count} rows' }`. Values stand in braces. */
export type Text = string | { readonly one: string; readonly other: string }
type Values = Readonly<Record<string, string | number>>

/** Names of languages in themselves, by code. */
export const languages = signal<Readonly<Record<string, string>>>({ en: 'English', de: 'Deutsch' })
const chosen = remembered<string>('language', '')

/** Code of the language that is shown: the chosen one, else the first of the browser's that there is. */
export const language = computed(() => {
  const wanted = [chosen.value, ...navigator.languages.map(each => each.slice(0, 2))]
  return wanted.find(each => each in languages.value) ?? 'en'
})
export const chooseLanguage = (code: string): void => {
  chosen.value = code
}

/** Texts of languages that were added, by `room.key`. */
const added = signal<Readonly<Record<string, Readonly<Record<string, Text>>>>>({})

/** Offers languages that the server has beside the built-in ones; `load` is called for one when it is chosen. */
export function offerLanguages(
  names: Readonly<Record<string, string>>,
  load: (code: string) => Promise<Readonly<Record<string, Text>>>,
): void {
  languages.value = { ...languages.value, ...names }
  effect(() => {
    const code = language.value
    if (!(code in names) || code in added.peek()) return
    load(code).then(
      texts => {
        added.value = { ...added.peek(), [code]: texts }
      },
      // English stays.
      () => {},
    )
  })
}

/** All texts of the page by language and `room.key`: what translations start from. */
export const builtIn: Readonly<Record<'en' | 'de', Record<string, Text>>> = { en: {}, de: {} }

/**
 * The texts of a room. What it returns gives one in the language that is shown; a component that calls it is rendered again
 * when the language changes.
 */
export function dictionary<Key extends string>(
  room: string,
  texts: { readonly en: Readonly<Record<Key, Text>>; readonly de: Readonly<Record<NoInfer<Key>, Text>> },
): (key: Key, values?: Values) => string {
  for (const [key, text] of Object.entries<Text>(texts.en)) builtIn.en[`${room}.${key}`] = text
  for (const [key, text] of Object.entries<Text>(texts.de)) builtIn.de[`${room}.${key}`] = text
  return (key, values = {}) => {
    const code = language.value
    const name = `${room}.${key}`
    const text = added.value[code]?.[name] ?? (code === 'de' ? builtIn.de : builtIn.en)[name]!
    return filled(text, values)
  }
}

function filled(text: Text, values: Values): string {
  const form = typeof text === 'string' ? text : text[plural(Number(values.count))]
  return form.replace(/\{(\w+)\}/g, (braces, name: string) => {
    const value = values[name]
    return value === undefined ? braces : typeof value === 'number' ? number(value) : value
  })
}

const plural = (count: number): 'one' | 'other' =>
  new Intl.PluralRules(language.value).select(count) === 'one' ? 'one' : 'other'

/** A number as the language writes it. */
export const number = (value: number, options?: Intl.NumberFormatOptions): string =>
  formatOf(language.value, options).format(value)

const formats = new Map<string, Intl.NumberFormat>()
function formatOf(code: string, options?: Intl.NumberFormatOptions): Intl.NumberFormat {
  const name = `${code} ${JSON.stringify(options ?? {})}`
  const known = formats.get(name) ?? new Intl.NumberFormat(code, options)
  formats.set(name, known)
  return known
}
