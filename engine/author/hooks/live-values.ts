import type { CalculatedAttribute } from '../../catalog/attribute.ts'
import type { Value } from '../../catalog/value.ts'
import type { Binding } from '../data-api/binding.ts'
import type { ClassDescriptor } from '../declare/describe-classes.ts'
import type { CodeSession } from '../data-api/code-session.ts'
import { type CodePlace, placeOf } from '../declare/code-place.ts'
import { at, runAs } from '../declare/running-code.ts'
import { UsageErrors } from '../declare/usage-error.ts'
import {
  attachCode,
  type CalculatedCode,
  type HandlerText,
  type QueryText,
} from '../../query/contract/calculated-code.ts'
import type { Snapshot } from '../../data/snapshot.ts'
import type { Hooks } from './hooks.ts'
import { computedValue } from './computed-value.ts'

/** Lets the queries of this thread run the code of the calculated attributes that are not stored. */
export function attachCalculated(codeSession: CodeSession, classes: readonly ClassDescriptor[], hooks: Hooks): void {
  for (const { kind, dataClass, members, name: className } of classes) {
    if (kind !== 'entity') continue
    const binding = codeSession.binding(dataClass!)
    const handler = (of: 'queryOf' | 'orderByOf', attribute: string): Handler | undefined => {
      const member = members.find(each => each.kind === of && each.attribute === attribute)
      return member && { name: member.name, place: placeOf(member, className) }
    }
    for (const { kind, name } of members) {
      const attribute = kind === 'calculated' ? binding.dataClass.attributesByName.get(name) : undefined
      if (attribute?.kind !== 'calculated') continue
      const query = handler('queryOf', name)
      const orderBy = handler('orderByOf', name)
      const code = new CalculatedByCode(attribute, binding, hooks)
      attachCode(attribute, {
        value: rowId => code.value(rowId),
        ...(query && { query: code.query(query) }),
        ...(orderBy && { orderBy: code.orderBy(orderBy) }),
      })
    }
  }
}

/** A query or order handler of an attribute. */
interface Handler {
  readonly name: string
  readonly place: CodePlace
}

/** Plugin code of one calculated attribute. Source: protocol notes, 3.8. */
class CalculatedByCode {
  private readonly values = new Map<number, Value>()
  /** Version and snapshot that the values were computed from. */
  private version = -1
  private snapshot: Snapshot | undefined

  constructor(
    private readonly attribute: CalculatedAttribute,
    private readonly binding: Binding,
    private readonly hooks: Hooks,
  ) {}

  value(rowId: number): Value {
    const { codeSession } = this.binding
    const { version, current: snapshot } = codeSession.snapshots
    if (this.version !== version || this.snapshot !== snapshot) {
      this.values.clear()
      this.version = version
      this.snapshot = snapshot
    }
    let value = this.values.get(rowId)
    if (value === undefined) {
      value = this.read(() => this.compute(rowId))
      this.values.set(rowId, value)
    }
    return value
  }

  query(method: Handler): NonNullable<CalculatedCode['query']> {
    return (operator, value) => {
      const result = this.ask(method, { kind: 'query', operator, value })
      const fault = this.faultOf(method)
      if (typeof result === 'string') return { text: result, parameters: [], fault }
      if (isQuery(result)) return { text: result.query, parameters: result.parameters ?? [], fault } satisfies QueryText
      return nothing(result, fault)
    }
  }

  orderBy(method: Handler): NonNullable<CalculatedCode['orderBy']> {
    return descending => {
      const operator = descending ? 'desc' : 'asc'
      const result = this.ask(method, { kind: 'orderBy', operator, descending })
      const fault = this.faultOf(method)
      return typeof result === 'string' ? { text: result, fault } : nothing(result, fault)
    }
  }

  private compute(rowId: number): Value {
    const entity = this.hooks.entityOf(this.binding, rowId)
    return entity ? computedValue(entity, this.attribute) : null
  }

  /** Calls a handler on the dataclass. A result set in the event object takes precedence over the returned one. */
  private ask(method: Handler, details: object): unknown {
    const { attribute, binding } = this
    const { name, dataClass } = attribute
    const event: Record<string, unknown> = { ...details, attributeName: name, dataClassName: dataClass.name }
    const methods = binding.entityPrototype as unknown as Record<string, (event: object) => unknown>
    const code = methods[method.name]!
    const returnValue = this.read(() => runAs(method.place, () => Reflect.apply(code, binding.instance, [event])))
    return event.result ?? returnValue
  }

  private faultOf({ place }: Handler): HandlerText['fault'] {
    const { dataClass, name } = this.attribute
    return (problem, cause) => at(place, UsageErrors.badResult(`${dataClass.name}.${name}`, problem, cause))
  }

  /** Runs code in the middle of a read: it cannot write. The right to read the attribute includes its sources. */
  private read<T>(work: () => T): T {
    return this.binding.codeSession.scope.run({ canWrite: false, access: undefined }, work)
  }
}

function nothing(result: unknown, fault: HandlerText['fault']): undefined {
  if (result === undefined || result === null) return undefined
  throw fault(`gives ${typeof result}, which is not a query text`)
}

const isQuery = (value: unknown): value is { query: string; parameters?: unknown } =>
  typeof value === 'object' && value !== null && 'query' in value && typeof value.query === 'string'
