import { bytes, choice, flag, integer, path, text, textList } from '../option.ts'

/** Options for sessions, logins and quotas. */
export const sessionOptions = {
  'session.cookieName': text({
    default: '4DSID_tesser',
    pattern: '^[A-Za-z0-9_-]{1,64}$',
    doc: 'Name of the session cookie; `WASID4D` is accepted too.',
  }),
  'session.sameSite': choice({
    default: 'lax',
    of: ['lax', 'strict', 'none'],
    doc: 'Whether browsers send the cookie with requests from pages of other sites; `none` needs TLS, of the server or of a trusted proxy.',
  }),
  'session.idleMinutes': integer({
    default: 60,
    min: 1,
    doc: 'Time in minutes without a request after which a session ends.',
  }),
  'session.maxIdleMinutes': integer({
    default: 10_080,
    min: 1,
    doc: 'Maximum idle time that a login may request, in minutes.',
  }),
  'session.lifetimeHours': integer({
    default: 720,
    min: 1,
    doc: 'Time in hours after which a session ends even if it is in use.',
  }),
  'session.perUser': integer({
    default: 200,
    min: 1,
    doc: 'Maximum number of sessions of one user; beyond it the oldest sessions end. Sessions with privileges but without a user are counted by address.',
  }),
  'session.guestsPerAddress': integer({
    default: 1000,
    min: 1,
    doc: 'Maximum number of guest sessions with stored data from one address (IPv6: one /64 network); beyond it the oldest end.',
  }),
  'session.maxGuests': integer({
    default: 10_000,
    min: 1,
    doc: 'Maximum number of all guest sessions with stored data; beyond it the oldest end.',
  }),
  'session.guestStorageBytes': bytes({
    default: '16 KiB',
    min: 0,
    doc: 'Maximum size of the `Session.storage` of a guest, as JSON; the limit for other sessions is 64 KiB.',
  }),
  'session.keepGuestStorage': flag({
    default: false,
    doc: 'Keep what plugin code stored for a guest when the guest logs in, as 4D does. Beware: an attacker who planted the cookie of the guest may have chosen that data.',
  }),

  'auth.directoryFile': path('File of users, groups and API keys; `tesser user` and `tesser key` write it.'),
  'auth.rolesFile': path('File of privileges, roles and permissions; `roles.json` next to the config file by default.'),
  'auth.guestsAdministrate': flag({
    default: false,
    doc: 'Without a roles file, let guests administer the server (`$info`), and not only clients that have logged in.',
  }),
  'auth.login.maxNameLength': integer({
    default: 200,
    min: 1,
    max: 1000,
    doc: 'Maximum length of a user name in a login, in UTF-16 code units.',
  }),
  'auth.login.maxPasswordBytes': integer({
    default: 1024,
    min: 64,
    max: 4096,
    doc: 'Maximum length of a password, in bytes of UTF-8.',
  }),
  'auth.login.failuresPerPair': integer({
    default: 10,
    min: 1,
    doc: 'Number of failed logins with one user name from one network after which each further failure doubles the waiting time, from 1 s to 15 minutes. An hour without a failure resets the count.',
  }),
  'auth.login.failuresPerNetwork': integer({
    default: 100,
    min: 0,
    doc: 'Number of failed logins from one address (IPv6: one /64 network) in ten minutes beyond which only users who have logged in from that address before may try; 0: no limit.',
  }),
  'auth.login.failuresPerName': integer({
    default: 100,
    min: 0,
    doc: 'Number of failed logins with one user name in an hour beyond which the name may be tried only from places where that user has logged in before; 0: no limit.',
  }),
  'auth.login.concurrency': integer({
    default: 2,
    min: 1,
    max: 64,
    doc: 'Number of passwords that are checked at the same time. Each check takes 32 MiB and one of the four threads that Node.js also uses to read files.',
  }),
  'auth.login.queueLimit': integer({
    default: 64,
    min: 1,
    doc: 'Maximum number of waiting logins; beyond it the server answers 503.',
  }),
  'auth.jwt.keyFile': path('Public key that verifies JSON Web Tokens: PEM, or a JSON Web Key Set.'),
  'auth.jwt.issuer': text<string | undefined>({ default: undefined, doc: 'Issuer that a token must name.' }),
  'auth.jwt.audience': text<string | undefined>({ default: undefined, doc: 'Audience that a token must name.' }),
  'auth.jwt.algorithms': textList({
    default: ['RS256', 'PS256', 'ES256', 'EdDSA'],
    doc: 'Accepted signature algorithms.',
  }),
  'auth.jwt.maxBytes': bytes({ default: '16 KiB', min: 256, doc: 'Maximum length of a token.' }),

  'quota.requestsPerSession': integer({
    default: 0,
    min: 0,
    doc: 'Maximum number of requests of one session per minute; 0: no limit.',
  }),
  'quota.requestsPerAddress': integer({
    default: 0,
    min: 0,
    doc: 'Maximum number of requests from one address per minute; 0: no limit.',
  }),
  'quota.costPerSession': integer({
    default: 0,
    min: 0,
    doc: 'Maximum number of rows that the queries of one session examine per minute; 0: no limit.',
  }),
  'quota.costPerAddress': integer({
    default: 0,
    min: 0,
    doc: 'Maximum number of rows that queries from one address examine per minute; 0: no limit.',
  }),
  'quota.concurrentPerAddress': integer({
    default: 0,
    min: 0,
    doc: 'Maximum number of requests from one address that are answered at the same time; 0: no limit.',
  }),
  'quota.entitySetsPerSession': integer({
    default: 0,
    min: 0,
    doc: 'Maximum number of entity sets that one session has at the same time; 0: no limit.',
  }),
} as const
