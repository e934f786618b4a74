/** Deletions: by key, filter and verb, and entities that have to stay. */
import { company } from '../support/fixtures/company.ts'
import { protocolTable } from '../support/checks/protocol-table.ts'
import { CITIES, EMPLOYEES } from './writing-cases.ts'

const COMPANIES = ['1', '2', '3', '4']

protocolTable(
  '$method=delete',
  company,
  [
    {
      spec: '4.4',
      name: 'an entity',
      post: '/Employee(5)?$method=delete',
      json: { ok: true },
      left: { Employee: ['1', '2', '3', '4', '6'] },
    },
    {
      spec: '4.4',
      name: 'several by a list of their keys',
      post: '/Employee?$filter="__KEY in :1"&$params=[["5","6"]]&$method=delete',
      json: { ok: true },
      left: { Employee: ['1', '2', '3', '4'] },
    },
    {
      spec: '4.4',
      name: 'several',
      post: '/Employee(5,6)?$method=delete',
      json: { ok: true },
      left: { Employee: ['1', '2', '3', '4'] },
    },
    {
      spec: '4.2',
      name: 'one by a unique attribute',
      post: '/Company:code("FR/22")?$method=delete&$atomic=false',
      status: 409,
      errors: [1120, 1518],
      left: { Company: COMPANIES },
    },
    {
      spec: '4.4',
      name: 'a filter',
      post: '/Employee?$filter="ID>4"&$method=delete',
      json: { ok: true },
      left: { Employee: ['1', '2', '3', '4'] },
    },
    {
      spec: '4.4',
      name: 'a filter with values',
      post: '/Employee?$filter="ID>:1"&$params=[4]&$method=delete',
      json: { ok: true },
      left: { Employee: ['1', '2', '3', '4'] },
    },
    {
      spec: 'P5.7',
      name: 'a filter without matches',
      post: '/Employee?$filter="ID>400"&$method=delete',
      json: { ok: true },
      left: { Employee: EMPLOYEES },
    },
    {
      spec: 'P5.7',
      name: 'a whole dataclass whose entities refer to one another',
      post: '/Employee?$method=delete',
      json: { ok: true },
      left: { Employee: [], Company: COMPANIES },
    },
    {
      spec: 'P5.7',
      name: 'an empty object counts as no body',
      post: '/Employee?$method=delete',
      body: {},
      json: { ok: true },
      left: { Employee: [] },
    },
    {
      spec: 'P1.9',
      name: 'the verb DELETE',
      delete: '/City(Paris)',
      json: { ok: true },
      left: { City: CITIES.filter(name => name !== 'Paris') },
    },
    {
      spec: 'P5.7',
      name: 'an unknown key',
      post: '/City(Oslo)?$method=delete',
      status: 404,
      errors: [1543],
      left: { City: CITIES },
    },
    {
      spec: 'P5.7',
      name: 'GET cannot delete',
      get: '/City(Paris)?$method=delete',
      status: 405,
      left: { City: CITIES },
    },
    {
      spec: 'P5.9',
      name: 'an entity that others refer to stays',
      post: '/Company(1)?$method=delete',
      status: 409,
      errors: [1120, 1518],
      left: { Company: COMPANIES, Employee: EMPLOYEES },
    },
    {
      spec: 'P5.7',
      name: 'deletable entities are deleted, the others are reported',
      post: '/Company?$method=delete',
      status: 409,
      errors: [1120, 1518, 1121],
      left: { Company: ['1', '2', '3'] },
    },
    {
      spec: 'P5.7',
      name: '$atomic deletes nothing when one has to stay',
      post: '/Company?$method=delete&$atomic=true',
      status: 409,
      errors: [1120, 1518, 1121],
      left: { Company: COMPANIES },
    },
    {
      spec: 'P5.7',
      name: 'an attribute in the address does not delete the entity',
      delete: '/Employee(1)/photo',
      status: 400,
      errors: [1813],
      left: { Employee: EMPLOYEES },
    },
  ],
  { isolated: true },
)
