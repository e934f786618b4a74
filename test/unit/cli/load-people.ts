/** A folder with a model of people, and the command `tesser load` in it. */
import type { Test } from 'tap'
import { loadWorld } from '../../support/commands/load-world.ts'

export const model = {
  name: 'test',
  dataClasses: {
    Person: {
      key: 'ID',
      attributes: {
        ID: { type: 'long' },
        name: { type: 'string', mandatory: true, maxLength: 10 },
        woman: { type: 'bool' },
        big: { type: 'long64' },
        born: { type: 'date', simpleDate: true },
        extra: { type: 'object' },
        note: { type: 'string', readOnly: true, scope: 'private' },
        bossID: { type: 'long' },
        boss: { kind: 'relatedEntity', type: 'Person', foreignKey: 'bossID' },
      },
    },
  },
}

export const world = (t: Test, files: Record<string, string | Buffer | Record<string, string>>) =>
  loadWorld(t, model, files)
