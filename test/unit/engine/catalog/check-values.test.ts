/** Faults of models: values that are made, defaults and limits. */
import { at, type Fault, model, onCompany, refuse } from './wrong-models.ts'

const DEFAULTED =
  'it is for bool, byte, word, long, long64, number, float, decimal, date, duration, string, uuid, object'

const cases: Fault[] = [
  {
    name: 'a uuid made for a number',
    model: onCompany({ type: 'long', autoFill: 'uuid' }),
    problem: `${at}.autoFill: "uuid" does not fit type long; it is for string, uuid`,
  },
  {
    name: 'a time made for a text',
    model: onCompany({ type: 'string', autoFill: 'now' }),
    problem: `${at}.autoFill: "now" does not fit type string; it is for date`,
  },
  ...(
    [
      ['of an image', { type: 'image', default: false }, `does not fit type image; ${DEFAULTED}`],
      ['of a vector', { type: 'vector', dimension: 1, default: [1] }, `does not fit type vector; ${DEFAULTED}`],
      [
        'beside an automatic value',
        { type: 'date', autoFill: 'now', default: '2020-01-01' },
        'new entities have the value of "autoFill": "now"; leave one of them out',
      ],
      [
        'of a unique attribute',
        { type: 'string', unique: true, default: 'a' },
        '"x" is unique, so that two new entities cannot both have it; leave it out',
      ],
      ['of null', { type: 'bool', default: null }, 'is null, as without it; leave it out, or give a value'],
      ['of another type', { type: 'bool', default: 'no' }, 'expected true or false, received "no"'],
      [
        'that is no day',
        { type: 'date', simpleDate: true, default: '2020-02-30' },
        'expected a date such as "2020-01-31" or "31!1!2020", received "2020-02-30"',
      ],
      [
        'that is no time',
        { type: 'duration', default: 'long' },
        'expected a number of milliseconds or a text such as "08:30:00", received "long"',
      ],
      [
        'that is not whole',
        { type: 'word', default: 1.5 },
        'expected a whole number from -32768 to 32767, received 1.5',
      ],
      [
        'with too many places',
        { type: 'decimal', scale: 1, default: 0.25 },
        'expected a decimal number of at most 17 digits before the point and 1 after it, received 0.25',
      ],
      ['that is not an object', { type: 'object', default: 'a' }, 'expected an object or an array, received "a"'],
      ['below the minimum', { type: 'long', minValue: 1, default: 0 }, '0 is below minValue, which is 1'],
      [
        'above the maximum',
        { type: 'decimal', scale: 1, maxValue: 1, default: 1.1 },
        '1.1 is above maxValue, which is 1',
      ],
      [
        'that is too short',
        { type: 'string', minLength: 2, default: 'a' },
        '"a" is shorter than minLength, which is 2',
      ],
      [
        'that is too long',
        { type: 'string', maxLength: 2, default: 'abc' },
        '"abc" is longer than maxLength, which is 2',
      ],
      [
        'against the pattern',
        { type: 'string', pattern: '[A-Z]', default: 'a' },
        '"a" does not match pattern, which is [A-Z]',
      ],
      [
        'that is no choice',
        { type: 'string', choices: ['A', 'B'], default: 'a' },
        '"a" is not among choices, which is A,B',
      ],
    ] as const
  ).map(([what, attribute, problem]) => ({
    name: `a default ${what}`,
    model: onCompany(attribute),
    problem: `${at}.default: ${problem}`,
  })),
  {
    name: 'a default of the key',
    model: model({ X: { key: 'ID', attributes: { ID: { type: 'long', default: 1 } } } }),
    problem:
      'dataClasses.X.attributes.ID.default: "ID" is unique, so that two new entities cannot both have it; leave it out',
  },
  {
    name: 'two counters',
    model: onCompany({ type: 'long', autoFill: 'increment' }),
    problem: 'dataClasses.Company: ID and x have "autoFill": "increment"; one counter for each dataclass',
  },
  {
    name: 'a minimum above the maximum',
    model: onCompany({ type: 'long', minValue: 3, maxValue: 2 }),
    problem: `${at}.minValue: 3 is above maxValue, which is 2`,
  },
  {
    name: 'a minimum length above the maximum',
    model: onCompany({ type: 'string', minLength: 3, maxLength: 2 }),
    problem: `${at}.minLength: 3 is above maxLength, which is 2`,
  },
  {
    name: 'a pattern with look-ahead',
    model: onCompany({ type: 'string', pattern: '^(?=a)' }),
    problem: `${at}.pattern: is not an RE2 expression (no look-around, no back-references): error parsing regexp: invalid or unsupported Perl syntax: \`(?=\``,
  },
]
refuse(cases)
