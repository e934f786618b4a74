export const MODEL = {
  name: 'uploads',
  dataClasses: {
    Document: {
      key: 'ID',
      attributes: { ID: { type: 'long', autoFill: 'increment' }, image: { type: 'image' }, content: { type: 'blob' } },
    },
  },
}
