/** Texts of the page in all its languages. Each room has its own dictionary, in `texts.ts` of its folder. */
import { computed, effect, signal } from '@preact/signals'
import { storedSignal } from './remembered.ts'

/** A text, or one for each plural form: `{ one: '{count} row', other: '{count} rows' }`. Placeholders are in braces. */
export type Text = string | { readonly one: string; readonly other: string }
type Values = Readonly<Record<string, string | number>>

/** Names of languages in the language itself, by code. */
export const languages = signal<Readonly<Record<string, string>>>({ en: 'English', de: 'Deutsch' })
const chosenCode = storedSignal<string>('language', '')

/** Code of the current language: the chosen language, or else the first available language of the browser. */
export const language = computed(() => {
  const codes = [chosenCode.value, ...navigator.languages.map(each => each.slice(0, 2))]
  return codes.find(each => each in languages.value) ?? 'en'
})
export const chooseLanguage = (code: string): void => {
  chosenCode.value = code
}

/** Texts of added languages, by `room.key`. */
const addedTexts = signal<Readonly<Record<string, Readonly<Record<string, Text>>>>>({})

/** Offers languages of the server besides the built-in ones; `load` is called for one when it is chosen. */
export function offerLanguages(
  names: Readonly<Record<string, string>>,
  load: (code: string) => Promise<Readonly<Record<string, Text>>>,
): void {
  languages.value = { ...languages.value, ...names }
  effect(() => {
    const code = language.value
    if (!(code in names) || code in addedTexts.peek()) return
    load(code).then(
      texts => {
        addedTexts.value = { ...addedTexts.peek(), [code]: texts }
      },
      // The page stays in English.
      () => {},
    )
  })
}

/** All texts of the page by language and `room.key`, the basis for translations. */
export const builtIn: Readonly<Record<'en' | 'de', Record<string, Text>>> = { en: {}, de: {} }

/**
 * Registers the texts of a room. The returned function looks up a text in the current language; a component that calls it is
 * rendered again when the language changes.
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
    const text = addedTexts.value[code]?.[name] ?? (code === 'de' ? builtIn.de : builtIn.en)[name]!
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

/** Formats a number for the current language. */
export const number = (value: number, options?: Intl.NumberFormatOptions): string =>
  formatOf(language.value, options).format(value)

/** The sign before decimals in the current language. */
export const decimalSign = (): string => number(0.5).charAt(1)

const formats = new Map<string, Intl.NumberFormat>()
function formatOf(code: string, options?: Intl.NumberFormatOptions): Intl.NumberFormat {
  const name = `${code} ${JSON.stringify(options ?? {})}`
  const formatter = formats.get(name) ?? new Intl.NumberFormat(code, options)
  formats.set(name, formatter)
  return formatter
}
