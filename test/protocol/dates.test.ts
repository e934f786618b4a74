/** Dates with offsets, and texts with more than a date, in every part of a request: in the store, and in PostgreSQL where it is installed. */
import t from 'tap'
import { type ProtocolCase, protocolTable } from '../support/checks/protocol-table.ts'
import { startPostgres } from '../support/databases/sql-servers.ts'
import { transports } from '../support/servers/test-server.ts'

const AT = '2025-07-01T10:00:00.000Z'
/** All are the same moment, on the same day as written. */
const SAME = [
  '2025-07-01T12:00:00+02',
  '2025-07-01T05:00:00-05',
  '2025-07-01T15:30:00+0530',
  '2025-07-01 10:00:00+00',
  '2025-07-01 12:00:00.0000000 +02:00',
  '2025-07-01T12:00+02:00[Europe/Berlin]',
  '1!7!2025 10:00',
]
/** None of them is a date. */
const REFUSED = [
  '2025-07-01T10:00:00Z0',
  '2025-07-01T10:00:00+2',
  '2025-07-01T10:00:00+02 CEST',
  '2025-07-01 10:00:00 02:00',
  '2025-07-01T24:00:00Z',
  '12/06/17',
]

const model = (storage?: object) => ({
  name: 'dates',
  dataClasses: {
    Event: {
      ...(storage && { storage }),
      key: 'ID',
      attributes: {
        ID: { type: 'long', autoFill: 'increment' },
        at: { type: 'date' },
        day: { type: 'date', simpleDate: true },
        lasts: { type: 'duration' },
      },
    },
    Moment: { ...(storage && { storage }), key: 'at', attributes: { at: { type: 'date' }, name: { type: 'string' } } },
  },
})

const rows = {
  Event: [{ ID: 1, at: AT, day: '2025-07-01', lasts: '08:30:00' }],
  Moment: [{ at: AT, name: 'noon in Berlin' }],
}

const found = (spec: string, name: string, filter: string, params?: unknown[]): ProtocolCase => ({
  spec,
  name,
  get: `/Event?$filter=${encodeURIComponent(`"ID = 1 and ${filter}"`)}${params ? `&$params=${encodeURIComponent(JSON.stringify(params))}` : ''}`,
  keys: ['1'],
})

const refused = (each: ProtocolCase): ProtocolCase => {
  const { keys: _, ...request } = each
  return { ...request, status: 400 }
}

const texts: ProtocolCase[] = [
  ...SAME.flatMap(text => [
    found('P2.7', `${text} in a filter`, `at = '${text}'`),
    found('P2.7', `${text} in a filter, its day`, `day = '${text}'`),
    found('P2.7', `${text} as a parameter`, 'at = :1 and day = :1', [text]),
    {
      spec: '2.4',
      name: `${text} as a key`,
      get: `/Moment(${encodeURIComponent(text)})`,
      has: { name: 'noon in Berlin' },
    },
    {
      spec: '2.5',
      name: `${text} is saved as the moment, or as the day`,
      post: '/Event?$method=update',
      body: { at: text, day: text },
      has: { at: AT, day: '2025-07-01' },
    },
  ]),
  ...REFUSED.flatMap(text => [
    {
      ...refused(found('P2.7', `${text} is not a date in a filter`, `at = '${text}'`)),
      has: { __ERROR: [{ message: /a date such as 2020-01-31, 2020-01-31T15:23:00Z or 2020-01-31 15:23:00\+02:00/ }] },
    },
    refused(found('P2.7', `${text} is not a date as a parameter`, 'at = :1', [text])),
    refused(found('P2.7', `${text} is not a day`, 'day = :1', [text])),
    { spec: '2.4', name: `${text} is not a key`, get: `/Moment(${encodeURIComponent(text)})`, status: 404 },
    {
      spec: '2.5',
      name: `${text} is not saved`,
      post: '/Event?$method=update',
      body: { at: text },
      status: 422,
      has: { __ERROR: [{ message: new RegExp(text.replace(/[+]/g, '\\+')) }, {}] },
    },
  ]),
  found('P2.7', 'without quotes', 'at = 2025-07-01T12:00:00+02 and at in [2025-07-01T05:00:00-05]'),
  found('P2.7', 'a duration', "lasts = '8:30' and lasts = 30600000 and lasts = '30600000'"),
  ...['08:75', '08:30:00+02', '8 hours'].map(text =>
    refused(found('P2.7', `${text} is not a duration, nor the number in front`, `lasts = '${text}'`)),
  ),
]

protocolTable('dates', { model: model(), rows }, texts)

const server = await startPostgres()
if (typeof server === 'string') t.comment(`skipped: ${server}`)
else {
  t.teardown(() => server.stop())
  const owned = model({ postgres: 'dates', owned: true })
  const config = { connections: { dates: { url: server.url } } }
  const saves: ProtocolCase[] = [
    { spec: 'D', name: 'an event', post: '/Event?$method=update', body: rows.Event[0], has: { at: AT } },
    { spec: 'D', name: 'a moment', post: '/Moment?$method=update', body: rows.Moment[0], has: { at: AT } },
  ]
  // A second transport would find the entities of the first.
  const on = transports.slice(0, 1)
  protocolTable('dates in PostgreSQL', { model: owned, rows: {} }, [...saves, ...texts], { config, on })
}
