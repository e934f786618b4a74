/** Models with one fault each. */
import t from 'tap'
import { loadModel } from '../../../../engine/catalog/load-model.ts'
import type { ModelError } from '../../../../engine/catalog/model-error.ts'

export const company = {
  key: 'ID',
  attributes: {
    ID: { type: 'long', autoFill: 'increment' },
    name: { type: 'string', indexed: true },
    secret: { type: 'long', scope: 'private' },
    info: { type: 'object' },
    staff: { kind: 'relatedEntities', type: 'EmployeeSelection', inverseName: 'employer' },
  },
}
export const employee = {
  key: 'ID',
  attributes: {
    ID: { type: 'long' },
    name: { type: 'string' },
    employerID: { type: 'long' },
    employer: { kind: 'relatedEntity', type: 'Company', foreignKey: 'employerID', inverseName: 'staff' },
    employerName: { kind: 'alias', path: 'employer.name' },
  },
}
export type Options = Record<string, unknown>
export const model = (dataClasses: Options): Options => ({ name: 'test', dataClasses })
export const withCompany = (options: Options, attributes: Options = {}): Options =>
  model({
    Company: { ...company, ...options, attributes: { ...company.attributes, ...attributes } },
    Employee: employee,
  })

export const onCompany = (attribute: Options): Options => withCompany({}, { x: attribute })
export const at = 'dataClasses.Company.attributes.x'

export function problemsOf(model: unknown): readonly string[] {
  try {
    loadModel(model)
    return []
  } catch (error) {
    return (error as ModelError).problems
  }
}

export interface Fault {
  name: string
  model: unknown
  problem: string
}

/** Each case is a test: the model is refused with this problem alone. */
export function refuse(cases: readonly Fault[]): void {
  for (const { name, model, problem } of cases) {
    t.test(`${name} is refused`, async t => {
      t.throws(() => loadModel(model), { name: 'ModelError', problems: [problem] })
      t.equal(problemsOf(model).length, 1, problemsOf(model).join('\n'))
    })
  }
}
