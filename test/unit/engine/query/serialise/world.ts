import { loadModel } from '../../../../../engine/catalog/load-model.ts'
import { publicView } from '../../../../../engine/catalog/view.ts'
import { parsePathList } from '../../../../../engine/query/parse/parse-path-list.ts'
import type { Output } from '../../../../../engine/query/contract/request.ts'
import { bindProjection } from '../../../../../engine/query/serialise/bind-projection.ts'
import type { Projection } from '../../../../../engine/query/serialise/projection.ts'
import { writeArray, writeCollection, writeEntity } from '../../../../../engine/query/serialise/write-selection.ts'
import { type FakeRows, fakeRows } from '../../../../support/engine/fake-rows.ts'

/** Three employees of two companies, one of them without an employer; the company's city and country are relations too. */
export const catalog = loadModel({
  name: 'test',
  dataClasses: {
    Country: {
      key: 'code',
      attributes: { code: { type: 'string' }, name: { type: 'string' } },
    },
    Company: {
      key: 'ID',
      attributes: {
        ID: { type: 'long' },
        name: { type: 'string' },
        taxNumber: { type: 'string', scope: 'private' },
        countryCode: { type: 'string' },
        country: { kind: 'relatedEntity', type: 'Country', foreignKey: 'countryCode' },
        staff: { kind: 'relatedEntities', type: 'EmployeeSelection', inverseName: 'employer' },
      },
    },
    Employee: {
      key: 'ID',
      defaultTopSize: 2,
      attributes: {
        ID: { type: 'long' },
        upperName: { kind: 'calculated', type: 'string' },
        name: { type: 'string' },
        salary: { type: 'number', scope: 'private' },
        address: { type: 'object' },
        photo: { type: 'image' },
        employerID: { type: 'long' },
        employer: { kind: 'relatedEntity', type: 'Company', foreignKey: 'employerID', inverseName: 'staff' },
        fullName: { kind: 'alias', path: 'name' },
        employerName: { kind: 'alias', path: 'employer.name' },
        countryName: { kind: 'alias', path: 'employer.country.name' },
        country: { kind: 'alias', path: 'employer.country' },
        colleagues: { kind: 'alias', path: 'employer.staff' },
        colleagueEmployers: { kind: 'alias', path: 'employer.staff.employer' },
        secretKey: { type: 'string', scope: 'private' },
        secret: { kind: 'relatedEntity', type: 'Secret', foreignKey: 'secretKey' },
      },
    },
    Plan: { key: 'ID', attributes: { ID: { type: 'long' }, outline: { kind: 'calculated', type: 'object' } } },
    Secret: { key: 'ID', scope: 'private', attributes: { ID: { type: 'string' } } },
  },
})

export const people = (): FakeRows =>
  fakeRows(catalog, {
    Country: [{ code: 'FR', name: 'France' }],
    Company: [
      { ID: 1, name: 'Acme', countryCode: 'FR', taxNumber: 'FR-77' },
      { ID: 2, name: 'Bolt' },
    ],
    Employee: [
      { ID: 1, name: 'Ada', salary: 10, employerID: 1, address: { city: 'Lyon', geo: { lat: 1, lon: 2 } } },
      { ID: 2, name: 'Zoë "Z"', salary: 20, employerID: 1, address: { city: 'Paris', tags: [{ a: 1, b: 2 }, 3] } },
      undefined,
      { ID: 4, name: 'Kurt', salary: 30 },
      { ID: 5, name: 'Eve', salary: 30, employerID: 1 },
    ],
    Plan: [{ ID: 1 }],
  })

export interface Wanted {
  dataClass?: string
  /** Attribute list of the path. */
  path?: string
  /** `$attributes`. */
  attributes?: string
  expand?: string
  pretty?: boolean
}

const outputOf = (form: Output['form'], { path, attributes, expand, pretty }: Wanted): Output => ({
  form,
  attributes:
    path !== undefined
      ? { from: 'path', items: parsePathList(path) }
      : attributes !== undefined
        ? { from: 'parameter', items: parsePathList(attributes) }
        : undefined,
  expand: expand === undefined ? undefined : parsePathList(expand),
  pretty,
})

export const LIMITS = { maxExpandDepth: 5, maxAnswerBytes: 1 << 20 }

export const projectionOf = (rows: FakeRows, form: Output['form'], wanted: Wanted = {}, limits = LIMITS): Projection =>
  bindProjection(
    catalog.dataClassesByName.get(wanted.dataClass ?? 'Employee')!,
    outputOf(form, wanted),
    publicView(catalog),
    rows.layouts,
    limits,
  )

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8')
const page = (rowIds: number[]) => ({ count: 7, first: 3, rowIds: Uint32Array.from(rowIds) })

export function entityText(rowId: number, wanted: Wanted = {}, rows = people()): string {
  return text(writeEntity(rowId, projectionOf(rows, 'entity', wanted), rows))
}

export function arrayText(rowIds: number[], wanted: Wanted = {}, rows = people()): string {
  return text(writeArray(page(rowIds), projectionOf(rows, 'array', wanted), rows))
}

export function collectionText(
  rowIds: number[],
  wanted: Wanted = {},
  options: Parameters<typeof writeCollection>[3] = {},
  rows = people(),
): string {
  return text(writeCollection(page(rowIds), projectionOf(rows, 'collection', wanted), rows, options))
}
