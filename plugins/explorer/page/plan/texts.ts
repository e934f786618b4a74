import { dictionary } from '../base/texts.ts'

export const text = dictionary('plan', {
  en: {
    again: 'Run again',
    bytes: 'Bytes',
    compressed: 'Bytes on the wire',
    entities: 'Entities found',
    hidden:
      'Steps without time and rows read what you may not see; the plan is the one that would be chosen without any data.',
    loading: 'Running…',
    milliseconds: '{time} ms',
    none: 'Without a filter there is no plan: the entities are read in their order.',
    own: 'of these {time} ms by itself',
    receiving: 'Receiving',
    rows: { one: '{count} row', other: '{count} rows' },
    skipped: 'not needed',
    steps: 'Steps',
    title: 'How the filter is carried out',
    total: 'Request in all',
    waiting: 'Waiting for the server',
  },
  de: {
    again: 'Noch einmal',
    bytes: 'Bytes',
    compressed: 'Bytes auf der Leitung',
    entities: 'Gefundene Entitäten',
    hidden:
      'Schritte ohne Zeit und Zeilen lesen, was Sie nicht sehen dürfen; der Plan ist der, der ohne Daten gewählt würde.',
    loading: 'Läuft…',
    milliseconds: '{time} ms',
    none: 'Ohne Filter gibt es keinen Plan: Die Entitäten werden in ihrer Reihenfolge gelesen.',
    own: 'davon {time} ms selbst',
    receiving: 'Empfangen',
    rows: { one: '{count} Zeile', other: '{count} Zeilen' },
    skipped: 'nicht nötig',
    steps: 'Schritte',
    title: 'Wie der Filter ausgeführt wird',
    total: 'Anfrage insgesamt',
    waiting: 'Warten auf den Server',
  },
})
