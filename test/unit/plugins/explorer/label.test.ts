import t from 'tap'
import { labelOf } from '../../../../plugins/explorer/page/base/label.ts'
import type { Attribute } from '../../../../plugins/explorer/page/base/model.ts'

const text = (name: string, others: Partial<Attribute> = {}): Attribute => ({
  name,
  kind: 'storage',
  type: 'string',
  ...others,
})
const key: Attribute = { name: 'ID', kind: 'storage', type: 'long', identifying: true, unique: true }
const label = (...attributes: readonly Attribute[]): string =>
  labelOf({ name: 'Thing', collectionName: 'Things', attributes: [key, ...attributes], key: [{ name: 'ID' }] }).name

t.test('the label of a dataclass', async t => {
  t.equal(label(text('city'), text('name')), 'name', 'a typical name of labels')
  t.equal(
    label(text('firstName'), text('lastName', { indexed: true, mandatory: true })),
    'lastName',
    'an indexed and mandatory attribute',
  )
  t.equal(
    label(text('countryName', { kind: 'alias', path: 'country.name' }), text('topic')),
    'topic',
    'not an attribute of another entity',
  )
  t.equal(label(text('body', { multiLine: true }), text('notes', { maxLength: 10_000 })), 'ID', 'no long texts')
  t.equal(
    label(
      text('ownerName'),
      { name: 'owner', kind: 'relatedEntity', type: 'Owner', foreignKey: 'ownerName' },
      text('plate'),
    ),
    'plate',
    'no reference',
  )
  t.equal(label({ name: 'born', kind: 'storage', type: 'date' }), 'ID', 'the key without texts')
})
