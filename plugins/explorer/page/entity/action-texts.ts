import { dictionary } from '../base/texts.ts'

/** Texts of the title, which is loaded with the page. */
export const text = dictionary('actions', {
  en: {
    deleteChosen: { one: 'Delete {count}…', other: 'Delete {count}…' },
    import: 'Import…',
    new: 'New',
    paste: 'Paste…',
  },
  de: {
    deleteChosen: { one: '{count} löschen…', other: '{count} löschen…' },
    import: 'Importieren…',
    new: 'Neu',
    paste: 'Einfügen…',
  },
})
