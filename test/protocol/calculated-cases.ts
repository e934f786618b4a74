/** Cases about calculated attributes and aliases of the company fixture. */
import { company } from '../support/fixtures/company.ts'
import type { ProtocolCase } from '../support/checks/protocol-table.ts'
import { hookedPlugin } from '../support/plugins/test-plugins.ts'

/** The company with aliases of every kind. */
export const aliased = structuredClone(company) as unknown as {
  model: { dataClasses: Record<string, { attributes: Record<string, object> }> }
  rows: typeof company.rows
}
Object.assign(aliased.model.dataClasses.Employee!.attributes, {
  who: { kind: 'alias', path: 'fullName' },
  bossName: { kind: 'alias', path: 'manager.fullName' },
  bossMonthly: { kind: 'alias', path: 'manager.monthly' },
  short: { kind: 'alias', path: 'initials' },
  firm: { kind: 'alias', path: 'employer' },
  firmName: { kind: 'alias', path: 'firm.name' },
  firmInfo: { kind: 'alias', path: 'firm.info' },
  colleagues: { kind: 'alias', path: 'firm.staff' },
})
Object.assign(aliased.model.dataClasses.Company!.attributes, {
  people: { kind: 'alias', path: 'staff' },
  bosses: { kind: 'alias', path: 'staff.manager' },
})

export const finds = (
  spec: string,
  name: string,
  filter: string,
  keys: readonly string[],
  more = '',
): ProtocolCase => ({
  spec,
  name: `${name}: ${filter}${more}`,
  get: `/Employee?$filter="${filter}"${more}`,
  keys,
})
export const order = (spec: string, orderBy: string, keys: readonly string[]): ProtocolCase => ({
  spec,
  name: `$orderby=${orderBy}`,
  get: `/Employee?$orderby=${orderBy}`,
  keys,
})

export const config = { plugins: [hookedPlugin], functions: { threads: 1 } }
