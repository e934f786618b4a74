import { dictionary } from '../base/texts.ts'

export const text = dictionary('components', {
  en: {
    again: 'Try again',
    close: 'Close',
    copied: 'Copied.',
    copyAs: 'Copy, save',
    curl: 'Copy as curl',
    fetch: 'Copy as fetch',
    csv: 'Save as CSV',
    logIn: 'Log in',
    link: 'Copy a link to this view',
    notCopied: 'the browser refuses to copy',
    query: 'Copy as curl with $query',
    more: '{count} more',
  },
  de: {
    again: 'Noch einmal',
    close: 'Schließen',
    copied: 'Kopiert.',
    copyAs: 'Kopieren, sichern',
    curl: 'Als curl kopieren',
    fetch: 'Als fetch kopieren',
    csv: 'Als CSV sichern',
    logIn: 'Anmelden',
    link: 'Link auf diese Ansicht kopieren',
    notCopied: 'der Browser lehnt das Kopieren ab',
    query: 'Als curl mit $query kopieren',
    more: '{count} weitere',
  },
})
