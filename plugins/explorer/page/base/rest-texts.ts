import { dictionary } from './texts.ts'

export const text = dictionary('rest', {
  en: {
    interrupted: 'The answer of the server was interrupted. Please try again.',
    noAnswer: 'The server cannot be reached. Check the connection, then try again.',
  },
  de: {
    interrupted: 'Die Antwort des Servers wurde unterbrochen. Bitte versuchen Sie es noch einmal.',
    noAnswer: 'Der Server ist nicht erreichbar. Prüfen Sie die Verbindung, und versuchen Sie es dann noch einmal.',
  },
})
