import { type EntitySet, kept, readTimeout, type SetOperator, sourceOf } from '../../engine/index.ts'
import { definePlugin, encoded, json, type ReadRequest, type Reply, type RestRequest } from '../../kernel/api.ts'
import { EntitySetRequestErrors } from './errors.ts'
import { ENTITY_SET, LOGIC_OPERATOR, METHODS, PARAMETERS } from './description.ts'
import { relatedRead } from './related-read.ts'
import { savedAtAccess, savedAtCreation } from './saved-query.ts'

/**
 * Entity sets: selections that the server keeps.
 *
 *   GET  /Employee?$filter="woman"&$method=entityset     creates a set from any collection
 *        →  { "__ENTITYSET": "/rest/Employee/$entityset/{id}", …the collection }   and the header Content-Location
 *   GET  /Company(1)/staff?$expand=staff&$method=subentityset&$subOrderby="salary desc"&$subExpand=manager
 *   GET  /Employee/$entityset/{id}                       a page of the set, with everything that a collection offers;
 *                                                        /Employee/{attributes}/$entityset/{id} too
 *   GET  /Employee/$entityset/{id}?$clean=true           leaves out entities that have been deleted
 *   GET  /Employee/$entityset/{id}?$logicOperator=AND&$otherCollection={id}    AND, OR, EXCEPT; INTERSECT → true or false
 *   GET  /Employee/$entityset/{id}?$method=release       ends it  →  { "ok": true }
 *   POST /Employee/$entityset/$release  ["{id}", …]      ends those that exist; /$entityset/$release ends sets of any class,
 *                                                        this one refuses a list with sets of other classes
 *
 * With `$method=entityset` the result of a filter, an order, `$clean` or `$logicOperator` on a set is kept as a new set; a set that nothing
 * changes answers under its own id. `$top` and `$skip` affect the answer only. `$method=delete` deletes the members of a live set; a set
 * that has ended is never recreated for a deletion. A member that has been deleted remains as `{"__STAMP":0}`, one that no longer matches
 * the filter remains as it is. `$none` in place of an id is the empty set.
 *
 * A set ends when it has not been used for `$timeout` seconds (two hours). `$savedfilter=true` and `$savedorderby=true` at its creation, or
 * their texts then or in a later request, recreate it under its id when it is requested after its end, for ten minutes without use;
 * `$refresh=true` does so before. Sets outlive a restart of the server.
 *
 * Source: base specification, 2.7, 3, 4.4 and 4.5; protocol notes, 6.
 */
export default definePlugin({
  name: 'entity-set',
  kernel: '^1.0.0',
  register({ engine, method, parameter, part, service }) {
    for (const [name, spec] of PARAMETERS) parameter(name, spec)
    const { entitySets } = engine
    /** The set in the address; `set` is absent if the request only names the set, or if its members have been changed. */
    const addressedSets = new WeakMap<RestRequest, { text: string; set?: EntitySet | undefined }>()

    part('$entityset', (request, next) => {
      const text = next()
      if (text === undefined) {
        // A read takes this for the whole dataclass; a deletion refuses it.
        if (request.read.source.kind === 'all') request.read.source = { kind: 'all', blank: true }
        return undefined
      }
      if (text === '$release') {
        if (request.verb !== 'POST') throw EntitySetRequestErrors.RELEASE_VERB(request.verb)
        return request.json().then(ids => {
          request.steps.push(() => release(ids, request))
        })
      }
      addressedSets.set(request, { text })
      request.steps.push(() => open(request, text))
      return undefined
    })

    const open = (request: RestRequest, text: string): Reply | undefined | Promise<Reply | undefined> => {
      const { read } = request
      if (request.isEntity || read.source.kind !== 'all') throw EntitySetRequestErrors.NOT_ON_ENTITIES(read.dataClass)
      // A set must not be recreated just to be released.
      if (request.parameter('$method') === 'release') return undefined
      read.output.isEntitySet = true
      if (text === '$none') return start(request, undefined)
      const options = {
        mustLive: isDeletion(request),
        saved: savedAtAccess(request),
        timeoutSeconds: readTimeout(request.parameter('$timeout')),
      }
      const set = entitySets.open(request.dataClass!, text, requesterOf(request), options)
      return set instanceof Promise ? set.then(openedSet => start(request, openedSet)) : start(request, set)
    }

    const start = (request: RestRequest, set: EntitySet | undefined): undefined | Promise<Reply | undefined> => {
      const changes = ['$logicOperator', '$otherCollection', '$clean', '$refresh']
      request.read.source = sourceOf(set?.members ?? NO_MEMBERS)
      addressedSets.get(request)!.set = set
      return changes.some(name => request.parameters.has(name)) ? change(request, set) : undefined
    }

    const change = async (request: RestRequest, currentSet: EntitySet | undefined): Promise<Reply | undefined> => {
      const dataClass = request.dataClass!
      const requester = requesterOf(request)
      // A deletion with `$refresh` is refused later.
      const isRefreshed = request.flag('$refresh') && !isDeletion(request)
      const set = currentSet && isRefreshed ? await entitySets.refresh(dataClass, currentSet, requester) : currentSet
      let members = await entitySets.visible(dataClass, set?.members ?? NO_MEMBERS, requester)
      const keyword = request.parameter('$logicOperator')
      const reference = request.parameter('$otherCollection')
      const isCombined = keyword !== undefined || reference !== undefined
      if (isCombined) {
        const operator = OPERATORS.get(keyword?.toUpperCase() ?? '')
        if (!operator) throw EntitySetRequestErrors.UNKNOWN_OPERATOR((keyword ?? '').slice(0, 100))
        if (!reference) throw EntitySetRequestErrors.NO_OTHER_COLLECTION()
        const otherSet = await entitySets.openOther(dataClass, reference, requester, { mustLive: isDeletion(request) })
        const otherMembers = await entitySets.visible(dataClass, otherSet.members, requester)
        if (operator === 'intersects') return json(entitySets.intersects(members, otherMembers))
        members = entitySets.combine(operator, members, otherMembers)
      }
      if (request.flag('$clean')) members = await entitySets.clean(dataClass, members, requester)
      request.read.source = sourceOf(members)
      addressedSets.get(request)!.set = isCombined || request.flag('$clean') ? undefined : set
      return undefined
    }

    // Without a set the whole dataclass would be selected, which is never intended.
    parameter('$logicOperator', LOGIC_OPERATOR, (_read, _value, request) => {
      if (!addressedSets.has(request)) throw EntitySetRequestErrors.NOT_A_SET('$logicOperator')
    })

    method('entityset', METHODS.entityset, async request => {
      const { read } = request
      if (request.isEntity) throw EntitySetRequestErrors.NOT_A_COLLECTION()
      const timeoutSeconds = readTimeout(request.parameter('$timeout'))
      const same = read.filter === undefined && read.orderBy === undefined ? addressedSets.get(request)?.set : undefined
      const quotas = request.session.entitySetOptions(timeoutSeconds)
      if (same && timeoutSeconds !== undefined) entitySets.setTimeout(same, timeoutSeconds, quotas.maxTimeoutSeconds)
      const options = { ...quotas, saved: savedAtCreation(request) }
      const set = same ?? (await entitySets.create(read, options, request.transport))
      return page(set, read, request)
    })

    method('subentityset', METHODS.subentityset, request =>
      // Clients page a set with the parameters that made it.
      addressedSets.has(request) ? encoded(engine.read(request.read, request.transport)) : createRelated(request),
    )

    const createRelated = async (request: RestRequest): Promise<Reply> => {
      const timeoutSeconds = readTimeout(request.parameter('$timeout'))
      const { target, read } = await relatedRead(request, engine)
      const set = await entitySets.create(read, request.session.entitySetOptions(timeoutSeconds), request.transport)
      return page(set, { ...read, dataClass: target }, request)
    }

    /** The page of a new set that the request asks for. */
    const page = async (set: EntitySet, read: ReadRequest, { transport }: RestRequest): Promise<Reply> => {
      const uri = entitySets.uri(read.dataClass, set)
      const { dataClass, access, skip, top } = read
      const output = { ...read.output, entitySetUri: uri }
      const body = engine.read({ dataClass, access, source: sourceOf(set.members), skip, top, output }, transport)
      return encoded(await kept(body), 200, { 'Content-Location': uri })
    }

    method('release', METHODS.release, async request => {
      request.refuseOtherPages()
      const address = addressedSets.get(request)
      if (!address) throw EntitySetRequestErrors.NOT_A_SET('$method=release')
      await entitySets.release(request.dataClass!, address.text)
      return json({ ok: true })
    })

    const release = async (ids: unknown, { dataClass }: RestRequest): Promise<Reply> => {
      const texts = Array.isArray(ids) ? ids.filter(id => typeof id === 'string') : []
      await entitySets.releaseAll(texts, dataClass)
      return json({ ok: true })
    }

    service('$entityset', ENTITY_SET, async request => {
      if (request.parts[0] !== '$release') throw EntitySetRequestErrors.UNKNOWN_COMMAND()
      return release(await request.json(), request)
    })
  },
})

const isDeletion = (request: RestRequest) => request.verb === 'DELETE' || request.parameter('$method') === 'delete'

const requesterOf = ({ access, transport }: RestRequest) => ({ access, caller: transport })

const NO_MEMBERS = new Uint32Array(0)

const OPERATORS = new Map<string, SetOperator | 'intersects'>([
  ['AND', 'and'],
  ['OR', 'or'],
  ['EXCEPT', 'except'],
  ['INTERSECT', 'intersects'],
])
