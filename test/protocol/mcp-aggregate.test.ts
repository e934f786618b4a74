/** The tools "aggregate", "search" and "image" of `/mcp`. */
import { type Case, employees, names, runWithStaff } from './mcp-cases.ts'

const READS: readonly Case[] = [
  { says: 'a count', tool: 'aggregate', input: { class: 'Employee', function: 'count' }, data: 6 },
  {
    says: 'a count of some',
    tool: 'aggregate',
    input: { class: 'Employee', function: 'count', filter: 'employer.name = :1', params: ['acme'] },
    data: 2,
  },
  {
    says: 'a sum',
    tool: 'aggregate',
    input: { class: 'Employee', function: 'sum', attribute: 'salary' },
    data: 330_000,
  },
  {
    says: 'all of them',
    tool: 'aggregate',
    input: { class: 'Employee', function: 'all', attribute: 'salary' },
    data: { salary: { count: 5, sum: 330_000, average: 66_000, min: 30_000, max: 120_000 } },
  },
  {
    says: 'values with their numbers',
    tool: 'aggregate',
    input: { class: 'Employee', function: 'values', attribute: 'employer.name', top: 1 },
    data: [{ value: 'Acme', count: 2 }],
  },
  {
    says: 'different values',
    tool: 'aggregate',
    input: { class: 'Employee', function: 'countDistinct', attribute: 'salary' },
    data: 4,
  },
  {
    says: 'a sum of nothing',
    tool: 'aggregate',
    input: { class: 'Employee', function: 'sum' },
    error: /sum takes an attribute/,
  },
  {
    says: 'two attributes',
    tool: 'aggregate',
    input: { class: 'Employee', function: 'sum', attribute: 'salary,ID' },
    error: /name one attribute/,
  },
  {
    says: 'an unknown function',
    tool: 'aggregate',
    input: { class: 'Employee', function: 'avarage', attribute: 'ID' },
    error: /none of count.*did you mean "average"/,
  },
  {
    says: 'a private attribute',
    tool: 'aggregate',
    input: { class: 'Employee', function: 'max', attribute: 'secret' },
    error: /"secret"/,
    status: 404,
  },

  {
    says: 'words',
    tool: 'search',
    input: employees({ text: 'ADA' }),
    has: { count: 2, data: names('Lovelace', 'Smith') },
  },
  {
    says: 'words in one attribute, with a filter',
    tool: 'search',
    input: employees({ text: 'ada', in: ['firstName'], filter: 'salary < :1 or salary = null', params: [50_000] }),
    has: { data: names('Smith') },
  },
  {
    says: 'nothing by meaning',
    tool: 'search',
    input: employees({ text: 'ada', by: 'meaning' }),
    error: /nothing to be searched by meaning/,
  },
  {
    says: 'nothing at all',
    tool: 'search',
    input: employees({}),
    error: /give one of text, similarTo and vector; received 0/,
  },
  {
    says: 'a private attribute',
    tool: 'search',
    input: employees({ text: 'hush', in: ['secret'] }),
    error: /"secret"/,
    status: 404,
  },
  { says: 'an unknown class', tool: 'search', input: { class: 'Nothing', text: 'a' }, error: /"Nothing"/, status: 404 },

  {
    says: 'an image that does not exist',
    tool: 'image',
    input: { class: 'Employee', key: '2', attribute: 'photo' },
    error: /has no image/,
  },
  {
    says: 'an attribute that is not an image',
    tool: 'image',
    input: { class: 'Employee', key: '1', attribute: 'lastName' },
    error: /the attribute is not an image/,
  },
  {
    says: 'an image of an unknown entity',
    tool: 'image',
    input: { class: 'Employee', key: '99', attribute: 'photo' },
    error: /99/,
    status: 404,
  },
  {
    says: 'an unknown attribute',
    tool: 'image',
    input: { class: 'Employee', key: '1', attribute: 'foto' },
    error: /foto/,
    status: 404,
  },
  {
    says: 'an address in place of an attribute',
    tool: 'image',
    input: { class: 'Employee', key: '1', attribute: '$entityset/x' },
    error: /is not a name/,
  },
]
runWithStaff(READS)
