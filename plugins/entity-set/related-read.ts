import { parseExpandList } from '../../engine/index.ts'
import type { PluginEngine, ReadRequest, RestRequest } from '../../kernel/api.ts'
import { EntitySetRequestErrors } from './errors.ts'

/**
 * Resolves the related entities that `/{dataClass}({key})/{relation}?$expand={relation}` names.
 * @returns their dataclass, and the request that selects them
 * @throws {EntitySetRequestErrors.NOT_RELATED} 1815
 */
export async function relatedRead(
  request: RestRequest,
  engine: PluginEngine,
): Promise<{ target: string; read: ReadRequest }> {
  const { dataClass, read, view } = request
  const { attributes, expand } = read.output
  const [item, ...others] = attributes?.from === 'path' ? attributes.items : []
  const name = item?.path.join('.')
  if (!request.isEntity || name === undefined || others.length > 0) {
    throw EntitySetRequestErrors.NOT_RELATED('it needs one entity and one relation')
  }
  if (!expand?.some(({ path }) => path[0] === name)) {
    throw EntitySetRequestErrors.NOT_RELATED(`$expand=${name} is missing`)
  }
  const attribute = view.attribute(dataClass!, name)
  const end = attribute?.kind === 'alias' ? attribute.target : attribute
  const passedRelations = attribute?.kind === 'alias' ? attribute.relations : []
  const isRelation = end?.kind === 'relatedEntities' || end?.kind === 'relatedEntity'
  if (
    !isRelation ||
    ![...passedRelations, end].some(({ kind }) => kind === 'relatedEntities') ||
    !view.shows(end.target)
  ) {
    throw EntitySetRequestErrors.NOT_RELATED(
      `"${name.slice(0, 100)}" is not a relation from 1 to N of ${dataClass!.name}`,
    )
  }
  const subExpand = request.parameter('$subExpand')
  return {
    target: end.target.name,
    read: {
      ...read,
      source: {
        kind: 'related',
        from: { dataClass: dataClass!.name, key: await engine.keyOf(read, request.transport) },
        relation: name,
      },
      orderBy: request.text('$subOrderby') ?? read.orderBy,
      output: {
        form: request.flag('$asArray') ? 'array' : 'collection',
        ...(subExpand !== undefined && { expand: parseExpandList(subExpand, end.target.name, engine.limits) }),
        ...(read.output.pretty && { pretty: true }),
        coding: read.output.coding,
      },
    },
  }
}
