import type { Queries } from './queries.ts'
import type { Attribute } from './catalog/attribute.ts'
import type { DataClass } from './catalog/dataclass.ts'
import { EngineErrors } from './base/engine-errors.ts'
import type { EngineParts } from './engine-parts.ts'
import { ProtocolError } from './base/errors.ts'
import { PermissionErrors } from './permission/permission-errors.ts'
import { type Caller, userOf } from './caller/caller.ts'
import type { PreparedAnswer, SaveAnswer } from './placement/saved-answers.ts'
import type { Promised } from './base/promised.ts'
import { needsCode } from './data/suspended.ts'
import { demandUniqueAddress } from './query/bind/demand-unique-address.ts'
import type { Output, ReadRequest } from './query/contract/request.ts'
import type { DeleteRequest, SaveRequest, SaveResult } from './write/contract/requests.ts'

/** Maximum size of a body that may be a single entity, which a refusal shows. */
const SMALL_BODY_BYTES = 16 * 1024

/** Saves and deletions, within the rights of a request. Documented in `PluginEngine`. */
export class Saves {
  /** Dataclasses whose new entities store the name of the user. */
  private readonly userFilled: ReadonlySet<DataClass | undefined>

  constructor(
    private readonly parts: EngineParts,
    private readonly queries: Queries,
  ) {
    const isUser = (each: Attribute): boolean => each.kind === 'storage' && each.autoFill === 'user'
    this.userFilled = new Set(parts.data.catalog.dataClasses.filter(({ attributes }) => attributes.some(isUser)))
  }

  /** True if the server has plugin code, which may run for a save. */
  get mayRunCode(): boolean {
    return this.parts.code !== undefined
  }

  async write(request: SaveRequest, caller?: Caller): Promise<SaveResult> {
    const access = request.access ?? (request.trusted ? undefined : this.parts.permissions.guest)
    const dataClass = this.parts.data.catalog.dataClassesByName.get(request.dataClass)
    const preparedRequest = await this.prepare(
      { ...request, access, ...this.userOf(dataClass, caller) },
      dataClass,
      caller,
    )
    if (dataClass && this.parts.hooked.onSave(dataClass)) return this.parts.code!.save(preparedRequest, caller)
    return this.parts.backends.byName(request.dataClass).save(preparedRequest, caller)
  }

  /** Name of the user, if new entities store it. */
  private userOf(dataClass: DataClass | undefined, caller: Caller | undefined): Pick<SaveRequest, 'user'> | undefined {
    return this.userFilled.has(dataClass) ? { user: userOf(caller) } : undefined
  }

  /**
   * Prepares a save for the writer: a large body is read in the pool.
   * @throws {PermissionErrors.CREATE} the caller may save nothing in a large body
   */
  private prepare(
    request: SaveRequest,
    dataClass: DataClass | undefined,
    caller: Caller | undefined,
  ): Promised<SaveRequest> {
    const { body, trusted, access } = request
    if (!trusted && dataClass && body.byteLength > SMALL_BODY_BYTES) {
      const view = this.queries.view(access)
      if (!view.may('create', dataClass) && !view.may('update', dataClass)) {
        if (!view.shows(dataClass)) throw view.unknownDataClass(dataClass.name)
        throw PermissionErrors.CREATE(dataClass.name).followedBy(PermissionErrors.UPDATE(dataClass.name))
      }
    }
    const { bodies, hooked } = this.parts
    const isEncoded = dataClass !== undefined && this.parts.backends.of(dataClass).insert && !hooked.onSave(dataClass)
    return bodies.isLarge(request) ? bodies.read(request, !isEncoded, caller) : request
  }

  async save(request: SaveRequest, output: Output, caller?: Caller): Promise<SaveAnswer> {
    const access = request.access ?? this.parts.permissions.guest
    const dataClass = this.queries.addressed(request.dataClass, access)
    const requestWithAccess = { ...request, access, ...this.userOf(dataClass, caller) }
    const isShownWithOthers =
      output.expand || output.attributes || dataClass.attributes.some(({ kind }) => kind === 'alias')
    if (this.parts.hooked.onSave(dataClass) || (isShownWithOthers && this.parts.hooked.restricted.size > 0)) {
      return this.parts.code!.saveAndAnswer(await this.prepare(requestWithAccess, dataClass, caller), output, caller)
    }
    let prepared: PreparedAnswer
    try {
      prepared = this.parts.savedAnswers.prepare(dataClass, requestWithAccess.access, {
        mode: requestWithAccess.mode,
        atomic: requestWithAccess.atomic,
        output,
      })
    } catch (error) {
      if (!needsCode(error)) throw error
      return this.parts.code!.saveAndAnswer(await this.prepare(requestWithAccess, dataClass, caller), output, caller)
    }
    const preparing = this.prepare(requestWithAccess, dataClass, caller)
    const preparedSave = preparing instanceof Promise ? await preparing : preparing
    if (output.returning) preparedSave.returning = output.returning
    const { answer, isOfRows } = prepared
    let begun: Promise<SaveAnswer> | undefined
    const begin = (result: SaveResult): void => {
      if (!isOfRows()) return
      begun = answer(result, caller)
      // Handled below, unless the save itself fails.
      begun.catch(() => {})
    }
    const result = await this.parts.backends.of(dataClass).save(preparedSave, caller, begin)
    return begun ?? answer(result, caller)
  }

  async delete(
    request: ReadRequest,
    { atomic, owner, ifMatch }: Pick<DeleteRequest, 'atomic' | 'owner' | 'ifMatch'>,
    caller?: Caller,
  ): Promise<number> {
    const view = this.queries.view(request.access)
    const dataClass = view.dataClass(request.dataClass)
    if (!view.may('drop', dataClass)) throw PermissionErrors.DROP(dataClass.name)
    demandUniqueAddress(request, view)
    // An index of vectors or sketches may miss a row, but a deletion must find all selected rows.
    const deletion = { read: { ...this.parts.backends.withRights(request), exact: true }, atomic, owner, ifMatch }
    const { deleted, selected = 1, error } = await this.parts.backends.of(dataClass).delete(deletion, caller)
    if (!error) return deleted
    const cause = new ProtocolError(error)
    throw selected === 1 ? cause : cause.followedBy(EngineErrors.NOT_ALL_DELETED(deleted, selected))
  }
}
