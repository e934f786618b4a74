import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'

/** A text of the page, or one for each plural form. */
type Text = string | { readonly one: string; readonly other: string }
type Texts = Readonly<Record<string, Text>>

/** Languages that an installation adds to the page, by code. */
type Languages = ReadonlyMap<string, { readonly name: string; readonly texts: Texts }>

/**
 * Reads files of translated texts. Missing texts are shown in English.
 * @param files by language code, relative to `folder`
 * @param english texts that can be translated
 * @throws {Error} lists all problems of the files
 */
export async function readLanguages(
  files: Readonly<Record<string, string>>,
  folder: string,
  english: Texts,
): Promise<Languages> {
  const languages = new Map<string, { name: string; texts: Texts }>()
  const problems: string[] = []
  for (const [code, file] of Object.entries(files)) {
    const texts = await readFile(resolve(folder, file), 'utf8').then(JSON.parse).catch(toError)
    const fileProblems = texts instanceof Error ? [texts.message] : problemsOf(texts, english)
    problems.push(...fileProblems.map(problem => `${file}: ${problem}`))
    languages.set(code, { name: nameOf(code), texts: texts as Texts })
  }
  if (problems.length > 0) throw new Error(`languages of the explorer:\n${problems.join('\n')}`)
  return languages
}

const toError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)))

/** Name of a language in that language. */
const nameOf = (code: string): string => new Intl.DisplayNames([code], { type: 'language' }).of(code) ?? code

function problemsOf(texts: unknown, english: Texts): string[] {
  if (typeof texts !== 'object' || texts === null || Array.isArray(texts)) return ['an object with texts is expected']
  return Object.entries(texts).flatMap(([key, text]: [string, unknown]) => {
    const original = Object.hasOwn(english, key) ? english[key] : undefined
    if (original === undefined) return [`there is no text "${key}"`]
    if (!isText(text)) return [`"${key}": a text is expected, or { "one": …, "other": … }`]
    const [received, expected] = [placeholders(text), placeholders(original)]
    return received === expected
      ? []
      : [`"${key}" has ${received || 'no placeholders'}; it takes ${expected || 'none'}`]
  })
}

function isText(text: unknown): text is Text {
  if (typeof text === 'string') return true
  if (typeof text !== 'object' || text === null) return false
  const { one, other } = text as Record<string, unknown>
  return typeof one === 'string' && typeof other === 'string'
}

/** Names in braces, sorted. The singular form may omit the number, so the other form is used. */
function placeholders(text: Text): string {
  const form = typeof text === 'string' ? text : text.other
  return [...new Set(form.match(/\{\w+\}/g))].sort().join(' ')
}
