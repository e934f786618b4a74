import { readFile } from 'node:fs/promises'
import { definePlugin, json, Type } from '../../kernel/api.ts'
import { readLanguages } from './languages.ts'

/**
 * A page on which users view and change the data, in the browser:
 *
 *   GET /explorer/
 *   GET /                        →  302 to it, unless another plugin serves this path
 *   GET /explorer/texts/en.json  →  all texts of the page in English, the basis for translations
 *   GET /explorer/languages.json →  { "fr": "français" }, the additional languages
 *
 * It is only a client of the public protocol: everything that it shows comes from `/rest`, with the rights of the user who is logged in.
 * The files themselves contain nothing of the store, and every caller may load them. `disablePlugins: ["explorer"]` disables it.
 *
 * Forms send only the attributes that a user has changed, and change nothing else in these: texts keep their line ends (new ones are like
 * those of the text, or LF if it has several kinds), an hour that clocks repeat keeps its instant, and numbers and the JSON of objects keep
 * their digits. Shift+Enter begins a new line in a text of one line, Enter saves. Dates before the year 1, after 9999, or finer than
 * milliseconds are edited as texts. Values above 20 KB are not part of a form; an import changes them. A comma is read as a decimal sign if
 * the language uses it as one, or if it cannot separate thousands. "Undo" names the values that it cannot restore, such as images above 32
 * MiB. Copied cells have all digits and can be pasted again: in a pasted table an empty cell is null and `""` an empty text, times are ISO
 * 8601.
 *
 * The shown selection can be exported as CSV, NDJSON or JSON ("Copy, save"): the server writes the file, and the browser saves it as it
 * arrives. Administrators can import a file, by choosing it or dropping it onto the view of a dataclass: columns are mapped to attributes,
 * the first rows shown as the server reads them, all rows tried, and imported with progress. Rejected rows are saved to a file that can be
 * corrected and imported again, like the rejected rows of `tesser import`.
 *
 * The page has English and German texts. Other languages are files like `en.json`, by code, relative to the config file:
 *
 *   "plugins": [{ "plugin": "tesser/plugins/explorer", "options": { "languages": { "fr": "./fr.json" } } }]
 *
 * A missing text is shown in English; an unknown one, or one with other placeholders, prevents the start.
 */
export default definePlugin({
  name: 'explorer',
  kernel: '^1.0.0',
  options: Type.Object({
    languages: Type.Record(
      Type.String({ pattern: '^[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*$' }),
      Type.String({ minLength: 1 }),
      {
        default: {},
        description:
          'Additional languages of the page, by language code: files such as `/explorer/texts/en.json`, relative to the config file.',
      },
    ),
  }),
  async register({ assets, basePath, configFolder, route }, { languages }) {
    const pages = new URL('./pages/', import.meta.url)
    await assets('/explorer/', pages, {
      doc: 'A page on which users view and change data; its files are under this path.',
    })
    const redirect = { status: 302, headers: { Location: `${basePath}/explorer/` }, body: '' }
    route(
      '/',
      { verbs: ['GET'], yields: true, doc: 'Redirects to `/explorer/`, unless another plugin serves this path.' },
      () => redirect,
    )
    const english = JSON.parse(await readFile(new URL('texts/en.json', pages), 'utf8'))
    const extraLanguages = await readLanguages(languages, configFolder, english)
    const names = Object.fromEntries([...extraLanguages].map(([code, { name }]) => [code, name]))
    route('/explorer/languages.json', { verbs: ['GET'], doc: 'Additional languages of the explorer.' }, () =>
      json(names),
    )
    for (const [code, { texts }] of extraLanguages) {
      route(`/explorer/languages/${code}.json`, { verbs: ['GET'] }, () => json(texts))
    }
  },
})
