/** Names of relations from foreign keys, in both directions. */
import t from 'tap'
import { proposeModel } from '../../../kernel/cli/clone-database/propose-model.ts'
import type { SourceTable } from '../../../kernel/cli/clone-database/source.ts'

/** A table whose columns are whole numbers. @param foreignKeys tables by column */
const table = (name: string, foreignKeys: Record<string, string>): SourceTable =>
  ({
    name,
    columns: ['id', ...Object.keys(foreignKeys)].map(column => ({
      name: column,
      attribute: { type: 'long' },
      isNullable: column !== 'id',
    })),
    primaryKey: ['id'],
    uniques: [],
    indexed: new Set(),
    foreignKeys: Object.entries(foreignKeys).map(([column, target]) => ({
      columns: [column],
      table: target,
      references: ['id'],
    })),
  }) as unknown as SourceTable

/** Relations of the tables, each with its reverse. */
function relationsOf(tables: readonly SourceTable[]): Record<string, string> {
  const style = {
    participle: 'attached',
    keyOf: ({ columns }: SourceTable) => ({ column: columns[0]! }),
    ofTable: () => ({}),
    ofColumn: () => ({}),
  }
  const { dataClasses } = proposeModel(tables, { name: 'x', names: {}, style }).model
  return Object.fromEntries(
    Object.entries(dataClasses).flatMap(([name, { attributes }]) =>
      Object.entries(attributes).flatMap(([attribute, { kind, inverseName }]) =>
        kind === 'relatedEntity' ? [[`${name}.${attribute}`, String(inverseName)]] : [],
      ),
    ),
  )
}

t.test('a table that refers to itself', async t => {
  for (const [name, column, relation, inverse] of [
    ['category', 'parent_id', 'parent', 'children'],
    ['Category', 'parentId', 'parent', 'children'],
    ['category', 'parent', 'parent_category', 'children'],
    ['comment', 'parent_comment_id', 'parent_comment', 'child_comments'],
    ['Comment', 'parentCommentId', 'parentComment', 'childComments'],
    ['employee', 'manager_id', 'manager', 'subordinates'],
    ['employee', 'reports_to', 'reports_to_employee', 'subordinates'],
    ['post', 'reply_to_id', 'reply_to', 'replies'],
    ['film', 'original_id', 'original', 'films_by_original'],
    ['Film', 'basedOnId', 'basedOn', 'FilmsByBasedOn'],
  ] as const) {
    t.same(relationsOf([table(name, { [column]: name })]), { [`${name}.${relation}`]: inverse }, column)
  }
})

t.test('several references of a table to itself', async t => {
  t.same(
    relationsOf([table('node', { parent_id: 'node', ancestor_id: 'node', manager_id: 'node', boss_id: 'node' })]),
    {
      'node.parent': 'children',
      'node.ancestor': 'descendants',
      'node.manager': 'subordinates',
      'node.boss': 'subordinates_2',
    },
  )
})

t.test('several references to another table', async t => {
  const film = table('film', { language_id: 'language', original_language_id: 'language' })
  t.same(relationsOf([table('language', {}), film]), {
    'film.language': 'films',
    'film.original_language': 'films_by_original_language',
  })
  const order = table('Order', { createdById: 'User', shippedById: 'User' })
  t.same(relationsOf([table('User', {}), order]), {
    'Order.createdBy': 'OrdersByCreatedBy',
    'Order.shippedBy': 'OrdersByShippedBy',
  })
})
