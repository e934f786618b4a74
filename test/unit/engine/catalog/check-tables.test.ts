/** Faults of models: attributes that are unique together, and tables of databases. */
import { at, company, employee, type Fault, model, type Options, refuse, withCompany } from './wrong-models.ts'

const owned = (attributes: Options, options: Options = {}): Options =>
  withCompany({ storage: { postgres: 'main', owned: true, ...options } }, attributes)

/** @param unique lists of the dataclass Company */
const together = (unique: unknown, attributes: Options = {}, options: Options = {}) =>
  withCompany({ unique, ...options }, attributes)

const cases: Fault[] = [
  {
    name: 'one attribute that is unique together',
    model: together([['name']]),
    problem: 'dataClasses.Company.unique.0: expected at least 2 items, received ["name"]',
  },
  {
    name: 'an unknown attribute that is unique together with another',
    model: together([['name', 'secrte']]),
    problem: 'dataClasses.Company.unique.0: there is no attribute "secrte" in Company; did you mean "secret"?',
  },
  {
    name: 'the key among attributes that are unique together',
    model: together([['ID', 'name']]),
    problem: 'dataClasses.Company.unique.0: "ID" is unique by itself; leave it out',
  },
  {
    name: 'a relation among attributes that are unique together',
    model: together([['name', 'staff']]),
    problem:
      'dataClasses.Company.unique.0: "staff" is a relatedEntities attribute; only values that are stored can be unique together',
  },
  {
    name: 'an object among attributes that are unique together',
    model: together([['name', 'info']]),
    problem:
      'dataClasses.Company.unique.0: "info" has type object; unique values have one of bool, byte, word, long, long64, number, float, decimal, date, duration, string, uuid',
  },
  {
    name: 'a calculated attribute that is not stored, unique together with another',
    model: together([['name', 'x']], { x: { kind: 'calculated', type: 'long' } }),
    problem: 'dataClasses.Company.unique.0: "x" is calculated at each read; add "stored": true to it',
  },
  {
    name: 'attributes that are unique together twice',
    model: together([
      ['name', 'secret'],
      ['secret', 'name'],
    ]),
    problem: 'dataClasses.Company.unique.1: has the attributes of dataClasses.Company.unique.0; leave one of them out',
  },
  {
    name: 'an attribute twice in a list of those that are unique together',
    model: together([['name', 'name']]),
    problem: 'dataClasses.Company.unique.0: "name" is in it twice',
  },
  {
    name: 'attributes of an attached table that are unique together',
    model: together([['name', 'secret']], {}, { storage: { postgres: 'main' } }),
    problem:
      'dataClasses.Company.unique: the table of Company is as others made it, and its database keeps values unique',
  },
  {
    name: 'a key of several columns in a table that the server makes',
    model: model({
      Company: {
        storage: { postgres: 'main', owned: true },
        key: 'ID',
        attributes: { ID: { type: 'string', column: ['a', 'b'] } },
      },
    }),
    problem:
      'dataClasses.Company.attributes.ID.column: several columns are for tables that exist; the key of an owned table is one column',
  },
  {
    name: 'a column of two attributes in a table that the server makes',
    model: owned({ x: { type: 'string', column: 'name' } }),
    problem: `${at}.column: "name" is also the column of name; name another one`,
  },
  {
    name: 'a stored calculated attribute in a table that the server makes',
    model: owned({ x: { kind: 'calculated', type: 'string', stored: true } }),
    problem: `${at}.stored: is not for a table of a database; without "stored" it is calculated at each read`,
  },
  {
    name: 'a column with a name that a database would cut',
    model: owned({ x: { type: 'string', column: 'é'.repeat(32) } }),
    problem: `${at}.column: "${'é'.repeat(32)}" has 64 bytes; a database keeps 63, so give a shorter name`,
  },
  {
    name: 'a stamp that is not a number',
    model: owned({}, { stamp: 'name' }),
    problem: 'dataClasses.Company.storage.stamp: "name" has type string; a stamp has type long or long64',
  },
  {
    name: 'a timestamp that is a day',
    model: owned({ x: { type: 'date', simpleDate: true } }, { timestamp: 'x' }),
    problem: 'dataClasses.Company.storage.timestamp: "x" is not a date with a time of day',
  },
  {
    name: 'a table of two dataclasses that the server makes',
    model: model({
      Company: { ...company, storage: { postgres: 'main', owned: true } },
      Employee: { ...employee, storage: { postgres: 'main', table: 'Company', owned: true } },
    }),
    problem: 'dataClasses.Employee.storage.table: "Company" is also the table of Company; name another one',
  },
]
refuse(cases)
