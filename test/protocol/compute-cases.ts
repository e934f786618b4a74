/** Cases about aggregates and other forms of answers. */
import type { ProtocolCase } from '../support/checks/protocol-table.ts'

export const refused = (spec: string, name: string, get: string, status: number, errors: number[]): ProtocolCase => ({
  spec,
  name,
  get,
  status,
  errors,
})
