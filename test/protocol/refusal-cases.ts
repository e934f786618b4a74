/** A database that refuses entities, and what clients receive. */

export const SQL = `
CREATE TYPE mood AS ENUM ('sad', 'happy');
CREATE DOMAIN score AS int CHECK (VALUE BETWEEN 0 AND 10);
CREATE EXTENSION btree_gist;
CREATE TABLE room (id int PRIMARY KEY);
CREATE TABLE period (a int, b int, PRIMARY KEY (a, b));
CREATE TABLE guest (id int PRIMARY KEY, no int UNIQUE);
CREATE TABLE outside (id int PRIMARY KEY);
CREATE TABLE counted (id serial PRIMARY KEY, day int);
CREATE TABLE tbl_booking (
  id int PRIMARY KEY, name varchar(8), mood mood, score score, price numeric(5,2) CONSTRAINT price_is_positive CHECK (price > 0),
  seats int CONSTRAINT tbl_booking_hidden_seats CHECK (seats <> 13), stay int4range, address inet, doc jsonb, raw json, code bit(3),
  room_id int REFERENCES room, note text UNIQUE, text_doc jsonb, hidden varchar(8) CHECK (hidden <> 'x'),
  first_day int, last_day int, floor oid, ticket int, ticket_part int, guest_no int REFERENCES guest (no), outer_no int REFERENCES outside,
  UNIQUE (ticket, ticket_part), FOREIGN KEY (first_day, last_day) REFERENCES period (a, b), secret_day int DEFAULT 7, UNIQUE (ticket, secret_day), CONSTRAINT days_in_order CHECK (first_day <= last_day),
  EXCLUDE USING gist (room_id WITH =, stay WITH &&),
  half int GENERATED ALWAYS AS (100 / nullif(seats, -1) / (seats - 7)) STORED
);
CREATE UNIQUE INDEX name_in_lower_case ON tbl_booking (lower(name));
CREATE UNIQUE INDEX tbl_booking_price ON tbl_booking (price) WHERE floor = 1;
CREATE UNIQUE INDEX mood_and_code ON tbl_booking (mood, upper(code::text));
CREATE TABLE place (id int PRIMARY KEY, tbl_row text NOT NULL);
CREATE TABLE parted (id int, kind int, PRIMARY KEY (id, kind)) PARTITION BY LIST (kind);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES IN (1);
CREATE VIEW broken AS SELECT 1 / (length(current_user) * 0) AS id;
CREATE VIEW gone AS SELECT 1 AS id;
CREATE TABLE secret (id int PRIMARY KEY, name text);
INSERT INTO room VALUES (1);
INSERT INTO counted VALUES (1);
INSERT INTO secret VALUES (1, 'x');
`
/** A booking with values that no other booking may have. */
export const TAKEN = `INSERT INTO tbl_booking (id, room_id, stay, note, name, ticket, ticket_part, price, floor, mood, code)
VALUES (1, 1, '[3,7)', 'taken', 'taken', 1, 2, 2, 1, 'sad', '101')`
const of = (table: string, attributes: object) => ({ storage: { postgres: 'main', table }, key: 'id', attributes })
const long = { type: 'long' }
const string = { type: 'string' }
const object = { type: 'object' }
export const MODEL = {
  name: 'refusals',
  dataClasses: {
    Room: of('room', { id: long }),
    Booking: of('tbl_booking', {
      id: long,
      name: string,
      mood: string,
      score: long,
      price: { type: 'decimal', scale: 2 },
      seats: long,
      stay: string,
      address: string,
      doc: object,
      raw: object,
      code: string,
      roomID: { ...long, column: 'room_id' },
      room: { kind: 'relatedEntity', type: 'Room', foreignKey: 'roomID' },
      note: string,
      textDoc: { ...string, column: 'text_doc' },
      firstDay: { ...long, column: 'first_day' },
      lastDay: { ...long, column: 'last_day' },
      floor: long,
      ticket: long,
      ticketPart: { ...long, column: 'ticket_part' },
      guestNo: { ...long, column: 'guest_no' },
      outerNo: { ...long, column: 'outer_no' },
      hidden: { ...string, scope: 'private' },
      secretDay: { ...long, column: 'secret_day', scope: 'private' },
    }),
    Period: {
      storage: { postgres: 'main', table: 'period' },
      key: 'ID',
      attributes: { ID: { ...string, column: ['a', 'b'] }, a: long, b: long },
    },
    Guest: of('guest', { id: long, no: long }),
    Counted: of('counted', { id: { ...long, autoFill: 'increment' }, day: long }),
    Place: of('place', { id: long, row: { ...string, column: 'tbl_row' } }),
    Parted: {
      storage: { postgres: 'main', table: 'parted' },
      key: 'ID',
      attributes: { ID: { ...string, column: ['id', 'kind'] }, id: long, kind: long },
    },
    Broken: { ...of('broken', { id: long }), storage: { postgres: 'main', table: 'broken', readOnly: true } },
    Gone: { ...of('gone', { id: long }), storage: { postgres: 'main', table: 'gone', readOnly: true } },
    Secret: of('secret', { id: long, name: string }),
  },
}

/** Values of a booking that the database refuses, with the attribute and the message in the answer. */
export const REFUSALS: readonly (readonly [string, object, string | undefined, RegExp])[] = [
  [
    'a check',
    { price: -1 },
    'price',
    /^price of Booking cannot be "-1.00": the check price_is_positive of the database/,
  ],
  [
    'a check whose name has the name of the table',
    { seats: 13 },
    'seats',
    /^seats of Booking cannot be 13: a check of/,
  ],
  ['a check of two columns', { firstDay: 2, lastDay: 1 }, undefined, /: a check of the table \(days_in_order\)$/],
  [
    'a check of a domain',
    { name: 'x', score: 11 },
    'score',
    /^score of Booking cannot be 11: the check score_check of/,
  ],
  ['a label of an enum', { mood: 'odd' }, 'mood', /^mood cannot be "odd"; one of "sad", "happy" is expected$/],
  ['a text that is too long', { name: 'x'.repeat(9) }, 'name', /a text of at most 8 characters is expected/],
  ['a number that is too large', { price: 1000 }, 'price', /^price cannot be "1000.00"; a number of less than 1000 is/],
  [
    'an address',
    { name: 'x', address: 'no', note: 'n' },
    'address',
    /^address cannot be "no"; an IP address is expected$/,
  ],
  ['a range', { stay: 'no' }, 'stay', /^stay cannot be "no"; a range such as \[1,10\) is expected$/],
  ['bits', { code: '10' }, 'code', /^code cannot be "10"; a text with as many bits as its column has is expected$/],
  ['JSON', { textDoc: '{' }, 'textDoc', /^textDoc cannot be "\{"; a text in JSON is expected$/],
  ['NUL', { name: 'a\0b' }, 'name', /^name cannot be "a\\u0000b"; one of the texts without NUL/],
  ['half a pair', { note: 'a\ud800' }, 'note', /^note cannot be "a\\ud800"; one of the texts without NUL/],
  ['NUL in an object', { doc: { a: ['\0'] } }, 'doc', /^doc cannot be .*; an object of texts without NUL/],
  ['half a pair in a name', { raw: { 'a\udc00': 1 } }, 'raw', /^raw cannot be .*; an object of texts without NUL/],
  ['NUL in a text of JSON', { textDoc: '{"a":"\\u0000"}' }, 'textDoc', /one of the texts without NUL/],
  [
    'a number beyond its column',
    { floor: -1 },
    'floor',
    /^floor cannot be -1; a whole number from 0 to 4294967295 is expected$/,
  ],
  ['a division by zero', { seats: 7 }, undefined, /: a rule of the table divides by zero$/],
  ['a foreign key', { roomID: 7 }, 'roomID', /7/],
  ['a conflict', { roomID: 1, stay: '[1,5)' }, undefined, /: it conflicts with another entity$/],
  ['a value that exists', { note: 'taken' }, 'note', /another entity has "taken" as note/],
  [
    'values that exist together',
    { ticket: 1, ticketPart: 2 },
    'ticket',
    /^another entity has ticket 1 and ticketPart 2, which are unique together$/,
  ],
  [
    'a value of an expression that exists',
    { name: 'TAKEN' },
    'name',
    /^name "TAKEN" is taken: another entity has it in the unique index name_in_lower_case of the database$/,
  ],
  [
    'a value that exists among some rows',
    { price: 2, floor: 1 },
    'price',
    /^price "2.00" is taken: another entity has it in a unique index of the database$/,
  ],
  [
    'values of a column and an expression',
    { mood: 'sad', code: '101' },
    'mood',
    /^mood "sad" and code "101" is taken: another entity has it in the unique index mood_and_code of the database$/,
  ],
  [
    'a foreign key of two columns',
    { firstDay: 1, lastDay: 2 },
    'firstDay',
    /^there is no entity of Period for firstDay 1 and lastDay 2$/,
  ],
  ['a foreign key without a relation', { guestNo: 4 }, 'guestNo', /^there is no entity of Guest for guestNo 4$/],
  [
    'a foreign key to a table without a dataclass',
    { outerNo: 4 },
    'outerNo',
    /^there is no row in the database for outerNo 4$/,
  ],
]

/** Texts that no answer may have. */
export const NAMES = /tbl_|_id\b|_day\b|\b[0-9][0-9A-Z]{4}\b(?!\.)|btree|parted_1|invalid input/
