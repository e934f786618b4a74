import { definePlugin } from 'tesser'

/** A trail of who changed which movie and director of the demo, kept in a separate dataclass. */
export default definePlugin({
  name: 'tesser-example-audit',
  kernel: '^1.0.0',
  classes: new URL('./classes.ts', import.meta.url),
  // `readOnly` binds clients only; code may write.
  model: {
    dataClasses: {
      AuditEntry: {
        key: 'ID',
        attributes: {
          ID: { type: 'long64', autoFill: 'increment', readOnly: true },
          dataClass: { type: 'string', indexed: true, mandatory: true, readOnly: true },
          entityKey: { type: 'string', indexed: true, mandatory: true, readOnly: true },
          action: { type: 'string', indexed: true, mandatory: true, readOnly: true },
          userName: { type: 'string', indexed: true, readOnly: true },
          at: { type: 'date', indexed: true, mandatory: true, readOnly: true },
          changes: { type: 'object', readOnly: true },
        },
      },
    },
  },
})
