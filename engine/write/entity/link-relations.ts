import type { RelatedEntityAttribute } from '../../catalog/attribute.ts'
import type { Value } from '../../catalog/value.ts'
import { ProtocolError } from '../../base/errors.ts'
import { describeValue, foreignKeyFor } from '../value/convert.ts'
import { type EntityChange, sameValue } from './entity-change.ts'
import { WriteErrors } from '../contract/write-errors.ts'
import type { RelatedEntity } from '../../data/store-transaction.ts'

/** Applies sent relations. A relation and its foreign key are one value: if both are sent, the changed one applies. */
export function changeRelations(change: EntityChange): void {
  for (const { relation, key } of change.sentRelations) changeRelation(change, relation, key)
}

function changeRelation(change: EntityChange, relation: RelatedEntityAttribute, key: Value): void {
  const { foreignKey, target, name } = relation
  const relatedEntity = key === null ? null : findRelated(change, relation, key)
  if (relatedEntity === undefined) {
    change.reject(foreignKey, WriteErrors.RELATED_ENTITY_NOT_FOUND(name, describeValue(target.key, key), target.name))
    return
  }
  const value = relatedEntity && foreignKeyFor(foreignKey, relatedEntity.key, target.key)
  if (value instanceof ProtocolError) {
    change.reject(foreignKey, value)
    return
  }
  if (sameValue(change.storedValue(foreignKey), value)) return
  const direct = change.values.get(foreignKey)
  const agrees =
    direct === undefined ||
    (direct === null ? value === null : findRelated(change, relation, direct)?.rowId === relatedEntity?.rowId)
  if (agrees) change.change(foreignKey, value)
  else {
    const problem = WriteErrors.RELATION_CONFLICT(
      name,
      describeValue(foreignKey, value),
      foreignKey.name,
      describeValue(foreignKey, direct),
    )
    change.reject(foreignKey, problem)
  }
}

/** Finds the entities that changed foreign keys refer to. */
export function linkForeignKeys(change: EntityChange): void {
  const { dataClass, transaction, view } = change.context
  const relations = transaction.layout(dataClass).references
  for (let i = 0; i < relations.length; i++) {
    const relation = relations[i]!
    const { foreignKey, target } = relation
    const key = change.values.get(foreignKey)
    if (key === undefined) continue
    // The answer would reveal which entities exist.
    if (key !== null && !change.isMade(foreignKey) && !view.may('read', target)) {
      change.refuse(foreignKey)
      continue
    }
    const relatedEntity = key === null ? null : findRelated(change, relation, key)
    if (relatedEntity === undefined) {
      const isNamed = !change.isMade(foreignKey) || view.shows(foreignKey)
      change.reject(
        foreignKey,
        isNamed
          ? WriteErrors.FOREIGN_KEY_NOT_FOUND(
              foreignKey.name,
              describeValue(foreignKey, key),
              view.shows(target) ? target.name : undefined,
            )
          : WriteErrors.HIDDEN(dataClass.name),
      )
      continue
    }
    change.references[i] = relatedEntity?.rowId
    // The foreign key takes the target's spelling of the key, which may be the spelling already stored.
    if (relatedEntity && foreignKey.type === target.key.type) change.values.set(foreignKey, relatedEntity.key)
  }
  if (!change.old) return
  for (const { foreignKey } of relations) {
    const value = change.values.get(foreignKey)
    if (value !== undefined && sameValue(change.storedValue(foreignKey), value)) change.values.delete(foreignKey)
  }
}

/** The entity that `key` refers to. A new entity may be related to itself. */
function findRelated(change: EntityChange, relation: RelatedEntityAttribute, key: Value): RelatedEntity | undefined {
  const { dataClass, transaction } = change.context
  const relatedEntity = transaction.findRelated(relation.target, key)
  if (relatedEntity || change.old || relation.target !== dataClass) return relatedEntity
  return change.values.get(dataClass.key) === key ? { rowId: transaction.state(dataClass).nextRowId, key } : undefined
}
