/** Oddities of CSV: numbers, bools, times and other values. */
import { column, loadEach, type Oddity } from './oddities.ts'

const ODDITIES: readonly Oddity[] = [
  // Numbers
  column('integers', ['1', '-2', '0'], 'long', [1, -2, 0]),
  column('integers beyond 32 bits', ['1', '5000000000'], 'long64', [1, 5_000_000_000]),
  column('digits of an account, beyond 64 bits', ['12345678901234567890', '1'], 'string', [
    '12345678901234567890',
    '1',
  ]),
  column('postcodes', ['01234', '99999'], 'string', ['01234', '99999']),
  column('telephone numbers', ['+49 30 1234', '030 1234'], 'string', ['+49 30 1234', '030 1234']),
  column('telephone numbers without blanks', ['+4930123456', '+4930123457'], 'string', ['+4930123456', '+4930123457']),
  column('numbers', ['1.5', '2', '-.25'], 'number', [1.5, 2, -0.25]),
  column('money', ['12.50', '3.99', '7.00'], 'decimal(2)', [12.5, 3.99, 7]),
  column('two digits after the point, measured', ['12.51', '3.99', '7.01'], 'number', [12.51, 3.99, 7.01]),
  column('scientific notation', ['1e3', '2.5E-2'], 'number', [1000, 0.025]),
  column('thousands with commas and points', ['1,234.5', '999.25'], 'number', [1234.5, 999.25], {
    format: { decimal: '.' },
  }),
  column('millions with commas', ['1,234,567', '1,000'], 'long', [1_234_567, 1000], { format: { decimal: '.' } }),
  column('thousands with points and commas', ['1.234,5', '999,25'], 'number', [1234.5, 999.25], {
    format: { decimal: ',' },
  }),
  column('thousands with apostrophes', ["1'234.50", "7'000.25"], 'decimal(2)', [1234.5, 7000.25]),
  column('thousands with blanks', ['1 234,5', '2\u202F000,25'], 'number', [1234.5, 2000.25]),
  column('thousands or decimals', ['1,234', '5,678'], 'string', ['1,234', '5,678'], {
    open: /^1,234 may have thousands or decimals/,
  }),
  column('thousands or decimals, by option', ['1,234', '5,678'], 'long', [1234, 5678], { given: { decimal: '.' } }),
  column('numbers of two countries', ['1.5', '2,5'], 'string', ['1.5', '2,5'], {
    open: /a point, as 1\.5, and a comma, as 2,5/,
  }),
  column('percent', ['12%', '5.5 %'], 'string', ['12%', '5.5 %']),
  column('amounts in several currencies', ['€ 12.50', '$3'], 'string', ['€ 12.50', '$3']),
  column('versions', ['1.2.3', '1.10.0'], 'string', ['1.2.3', '1.10.0']),
  column('long integers and fractions', ['9007199254740993', '1.5'], 'decimal(1)', [9007199254740993n, 1.5]),
  column('more places than a double has', ['0.1234567890123456789', '1'], 'string', ['0.1234567890123456789', '1']),
  column('more digits than a double has', ['123456789.123456789', '1'], 'decimal(9)', ['123456789.123456789', 1]),
  column('all digits of doubles', ['0.10000000000000001', '1e22'], 'number', [0.1, 1e22]),
  column('a number below all doubles', ['1e-400', '1'], 'string', ['1e-400', '1']),
  column('infinite numbers', ['1e999', '2'], 'string', ['1e999', '2']),
  column('not a number', ['1.5', 'NaN'], 'number', [1.5, null], { format: { nulls: ['NaN'] } }),
  column('N/A among numbers', ['1', 'N/A', '-'], 'long', [1, null, null], { format: { nulls: ['N/A', '-'] } }),
  column('NA among texts is a text', ['DE', 'NA'], 'string', ['DE', 'NA']),
  column('a text among numbers', ['1', 'two', '3'], 'string', ['1', 'two', '3']),
  column('numbers with blanks around', [' 1', '2 '], 'long', [1, 2]),
  // Truths
  column('true and false', ['true', 'FALSE'], 'bool', [true, false]),
  column('yes and no', ['yes', 'No'], 'bool', [true, false]),
  column('t and f', ['t', 'f'], 'bool', [true, false]),
  column('y and n', ['Y', 'n'], 'bool', [true, false]),
  column('only true', ['TRUE', 'true'], 'bool', [true, true]),
  column('only false', ['false'], 'bool', [false]),
  column('only no, a country', ['NO', 'NO'], 'string', ['NO', 'NO']),
  column('only yes', ['Yes', 'yes'], 'string', ['Yes', 'yes']),
  column('only y', ['Y', 'Y'], 'string', ['Y', 'Y']),
  column('only n', ['N'], 'string', ['N']),
  column('only t', ['t', 'T'], 'string', ['t', 'T']),
  column('only f', ['F'], 'string', ['F']),
  column('on and off', ['on', 'OFF'], 'string', ['on', 'OFF']),
  column('only on, a province', ['ON', 'ON'], 'string', ['ON', 'ON']),
  column('words of two pairs', ['yes', 'false'], 'string', ['yes', 'false']),
  column('a country beside missing ones', ['NO', 'N/A', ''], 'string', ['NO', 'N/A', null]),
  column('ones and zeros are numbers', ['1', '0'], 'long', [1, 0]),
  // Dates and times
  column('ISO days', ['2024-12-25', '2024-01-02'], 'day', ['2024-12-25', '2024-01-02']),
  column('days with slashes', ['2024/12/25', '2024/1/2'], 'day', ['2024-12-25', '2024-01-02']),
  column('days with points', ['25.12.2024', '3.4.2024'], 'day', ['2024-12-25', '2024-04-03'], {
    format: { dates: 'dmy' },
  }),
  column('the day first', ['25/12/2024', '03/04/2024'], 'day', ['2024-12-25', '2024-04-03'], {
    format: { dates: 'dmy' },
  }),
  column('the month first', ['12/25/2024', '03/04/2024'], 'day', ['2024-12-25', '2024-03-04'], {
    format: { dates: 'mdy' },
  }),
  column('the day first, with dashes', ['25-12-2024'], 'day', ['2024-12-25']),
  column('the day or the month first', ['03/04/2024', '05/06/2024'], 'string', ['03/04/2024', '05/06/2024'], {
    open: /^03\/04\/2024 may have the day or the month first/,
  }),
  column('the day or the month first, by option', ['03/04/2024'], 'day', ['2024-03-04'], { given: { dates: 'mdy' } }),
  column('days of two countries', ['25/12/2024', '12/25/2024'], 'string', ['25/12/2024', '12/25/2024'], {
    open: /the day first, as 25\/12\/2024, and the month first/,
  }),
  column('ISO times', ['2024-12-25T13:30:00Z', '2024-12-25T13:30:00.5Z'], 'date', [
    '2024-12-25T13:30:00.000Z',
    '2024-12-25T13:30:00.500Z',
  ]),
  column('times of SQL', ['2024-12-25 13:30:00', '2024-12-26 00:00:00'], 'date', [
    '2024-12-25T13:30:00.000Z',
    '2024-12-26T00:00:00.000Z',
  ]),
  column('times with a zone', ['2024-12-25T13:30:00+02:00'], 'date', ['2024-12-25T11:30:00.000Z']),
  column(
    'times of psql',
    ['2025-01-01 10:00:00+00', '1890-01-01 12:00:00.5+00:19:32', '0044-03-15 10:00:00+00 BC'],
    'date',
    ['2025-01-01T10:00:00.000Z', '1890-01-01T11:40:28.500Z', '-000043-03-15T10:00:00.000Z'],
  ),
  column(
    'times of Java, .NET and JavaScript',
    ['2025-07-01T12:00+02:00[Europe/Berlin]', '2025-07-01 12:00:00 -05:00', '+012345-03-15T00:00:00.000Z'],
    'date',
    ['2025-07-01T10:00:00.000Z', '2025-07-01T17:00:00.000Z', '+012345-03-15T00:00:00.000Z'],
  ),
  column('a time with more after it', ['2025-01-01 10:00:00+2', '2025-01-01 10:00'], 'string', [
    '2025-01-01 10:00:00+2',
    '2025-01-01 10:00',
  ]),
  column('numbers of parts', ['12345-10-12', '12345-10-13'], 'string', ['12345-10-12', '12345-10-13']),
  column('times with points', ['25.12.2024 8:30', '1.2.2024 13:05'], 'date', [
    '2024-12-25T08:30:00.000Z',
    '2024-02-01T13:05:00.000Z',
  ]),
  column('times of 12 hours', ['12/25/2024 1:30 PM', '12/26/2024 12:05 am'], 'date', [
    '2024-12-25T13:30:00.000Z',
    '2024-12-26T00:05:00.000Z',
  ]),
  column('days in eight digits are numbers', ['20241225'], 'long', [20_241_225]),
  column('a day that does not exist', ['2024-02-30', '2024-02-28'], 'string', ['2024-02-30', '2024-02-28']),
  column('clocks', ['08:30', '23:59:59'], 'duration', [30_600_000, 86_399_000]),
  column('years', ['1999', '2024'], 'long', [1999, 2024]),
  // Other values
  column('UUIDs', ['01234567-89ab-cdef-0123-456789abcdef'], 'uuid', ['0123456789ABCDEF0123456789ABCDEF']),
  column('objects', ['{"a":[1]}', '{}'], 'object', [{ a: [1] }, {}]),
  column('short arrays', ['[1,2]', '[3]'], 'object', [[1, 2], [3]]),
  column('objects with long integers', ['{"a":9007199254740993}'], 'object', [{ a: 9007199254740992n }]),
  column('vectors', ['[1,2,3,4,5,6,7,8]'], 'vector(8)', [[1, 2, 3, 4, 5, 6, 7, 8]]),
  column('braces that are no JSON', ['{a}', '[b]'], 'string', ['{a}', '[b]']),
  column('formulas', ['=1+1', '@SUM(A1)'], 'string', ['=1+1', '@SUM(A1)']),
  column('HTML', ['<b>x</b>', '&amp;'], 'string', ['<b>x</b>', '&amp;']),
]

loadEach(ODDITIES)
