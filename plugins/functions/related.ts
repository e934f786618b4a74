import { type Attribute, type DataClass, demandUniqueAddress } from '../../engine/index.ts'
import { callFunction, type PluginEngine, type Reply, type RestRequest } from '../../kernel/api.ts'

/**
 * Finds the function that `/Company(1)/staff/{name}` names: of the selection class if the relation leads to many entities, of the
 * entity class if it leads to one. From then on the request is about these entities, and so are its filter and its order.
 * @returns the handler of the request; undefined if there is no such function
 * @throws {QueryErrors.NOT_UNIQUE} from the handler
 */
export function functionOnRelated(
  request: RestRequest,
  name: string,
  engine: PluginEngine,
): ((request: RestRequest) => Reply | Promise<Reply>) | undefined {
  const { read, view } = request
  const { attributes } = read.output
  if (attributes?.from !== 'path' || attributes.items.length !== 1 || !request.isEntity) return undefined
  const owner = request.dataClass!
  const relation = attributes.items[0]!.path.join('.')
  const attribute = view.attribute(owner, relation)
  const relatedTarget = attribute && relatedBy(attribute)
  if (!relatedTarget || !view.shows(relatedTarget.target)) return undefined
  const classFunction = engine.classes.find(relatedTarget.target.name, name, !relatedTarget.isMany)
  // A function of the dataclass does not run on a selection.
  if (!classFunction || classFunction.target.kind === 'dataClass') return undefined
  request.dataClass = relatedTarget.target
  request.read = {
    ...read,
    dataClass: relatedTarget.target.name,
    output: { form: relatedTarget.isMany ? 'collection' : 'entity' },
  }
  // The body is not available after the first `await`.
  if (request.verb === 'POST') request.argumentBody()
  if (classFunction.isStream) void request.prefersEvents
  return async () => {
    void request.callerSession
    demandUniqueAddress(read, view)
    const key = await engine.keyOf(read, request.transport)
    request.read.source = { kind: 'related', from: { dataClass: owner.name, key }, relation }
    return callFunction(engine, classFunction, request)
  }
}

/** The dataclass to which a relation, or an alias of one, leads. */
function relatedBy(attribute: Attribute): { target: DataClass; isMany: boolean } | undefined {
  const passedRelations = attribute.kind === 'alias' ? attribute.relations : []
  const end = attribute.kind === 'alias' ? attribute.target : attribute
  if (end.kind !== 'relatedEntities' && end.kind !== 'relatedEntity') return undefined
  return { target: end.target, isMany: [...passedRelations, end].some(({ kind }) => kind === 'relatedEntities') }
}
