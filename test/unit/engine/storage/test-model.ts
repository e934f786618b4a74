/** A model with an attribute of every type, for the tests of the storage. */
export const testModel = {
  name: 'storage-test',
  dataClasses: {
    Company: {
      key: 'code',
      attributes: {
        code: { type: 'string' },
        name: { type: 'string', indexed: true },
        staff: { kind: 'relatedEntities', type: 'PersonSelection', inverseName: 'employer' },
      },
    },
    Person: {
      key: 'ID',
      attributes: {
        ID: { type: 'long', autoFill: 'increment' },
        name: { type: 'string', indexed: true },
        nick: { type: 'string', unique: true },
        secret: { type: 'string', scope: 'private' },
        active: { type: 'bool', indexed: true },
        age: { type: 'byte', indexed: true },
        height: { type: 'number', indexed: true },
        weight: { type: 'float' },
        big: { type: 'long64', indexed: true },
        born: { type: 'date', simpleDate: true, indexed: true },
        seen: { type: 'date' },
        lap: { type: 'duration' },
        tag: { type: 'uuid', indexed: true },
        extra: {
          type: 'object',
          properties: { a: { type: 'long', indexed: true }, 'b.text': { type: 'string', indexed: true } },
        },
        photo: { type: 'image' },
        cv: { type: 'blob' },
        employerCode: { type: 'string' },
        employer: { kind: 'relatedEntity', type: 'Company', foreignKey: 'employerCode', inverseName: 'staff' },
      },
    },
  },
}
