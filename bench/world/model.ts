/** The model of the world, as a model file, with the indexes that a person would declare for these dataclasses. */
export const MODEL = {
  name: 'bench',
  dataClasses: {
    Company: {
      key: 'ID',
      attributes: {
        ID: { type: 'long', autoFill: 'increment' },
        name: { type: 'string', indexed: true },
        city: { type: 'string' },
        country: { type: 'string' },
        sector: { type: 'string' },
        revenues: { type: 'number' },
        founded: { type: 'date', simpleDate: true },
        active: { type: 'bool' },
        phone: { type: 'string' },
        website: { type: 'string' },
        staff: { kind: 'relatedEntities', type: 'EmployeeSelection', inverseName: 'employer' },
      },
    },
    Employee: {
      key: 'ID',
      attributes: {
        ID: { type: 'long', autoFill: 'increment' },
        firstName: { type: 'string' },
        lastName: { type: 'string', indexed: true },
        salary: { type: 'number' },
        birthDate: { type: 'date' },
        hired: { type: 'date', simpleDate: true },
        woman: { type: 'bool' },
        department: { type: 'string', indexed: true },
        email: { type: 'string' },
        notes: { type: 'string' },
        employerID: { type: 'long' },
        employer: { kind: 'relatedEntity', type: 'Company', foreignKey: 'employerID', inverseName: 'staff' },
      },
    },
  },
} as const
