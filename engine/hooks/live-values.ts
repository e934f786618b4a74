import type { CalculatedAttribute } from '../catalog/attribute.ts'
import type { Value } from '../catalog/value.ts'
import type { Binding } from '../language/binding.ts'
import type { ClassDescriptor } from '../language/describe-classes.ts'
import type { Language } from '../language/language.ts'
import { attachCode, type CalculatedCode, type QueryText } from '../query/calculated-code.ts'
import { QueryErrors } from '../query/query-errors.ts'
import type { Hooks } from './hooks.ts'
import { computedValue } from './computed-value.ts'

/** Lets the queries of this thread run the code of the calculated attributes that are not stored. */
export function attachCalculated(language: Language, classes: readonly ClassDescriptor[], hooks: Hooks): void {
  for (const { kind, dataClass, members } of classes) {
    if (kind !== 'entity') continue
    const binding = language.binding(dataClass!)
    const handler = (of: 'queryOf' | 'orderByOf', attribute: string): string | undefined =>
      members.find(member => member.kind === of && member.attribute === attribute)?.name
    for (const { kind, name } of members) {
      const attribute = kind === 'calculated' ? binding.dataClass.attributesByName.get(name) : undefined
      if (attribute?.kind !== 'calculated') continue
      const query = handler('queryOf', name)
      const orderBy = handler('orderByOf', name)
      const code = new AuthorCode(attribute, binding, hooks)
      attachCode(attribute, {
        value: rowId => code.value(rowId),
        ...(query && { query: code.query(query) }),
        ...(orderBy && { orderBy: code.orderBy(orderBy) }),
      })
    }
  }
}

/** The class of an author, asked for one calculated attribute. Source: protocol notes, 3.8. */
class AuthorCode {
  private readonly values = new Map<number, Value>()
  /** Of the state that the values were computed from. */
  private version = -1

  constructor(
    private readonly attribute: CalculatedAttribute,
    private readonly binding: Binding,
    private readonly hooks: Hooks,
  ) {}

  value(rowId: number): Value {
    const { language } = this.binding
    if (this.version !== language.version) {
      this.values.clear()
      this.version = language.version
    }
    let value = this.values.get(rowId)
    if (value === undefined) {
      value = this.read(() => this.compute(rowId))
      this.values.set(rowId, value)
    }
    return value
  }

  query(method: string): NonNullable<CalculatedCode['query']> {
    return (operator, value) => {
      const result = this.ask(method, { kind: 'query', operator, value })
      if (typeof result === 'string') return { text: result, parameters: [] }
      if (isQuery(result)) return { text: result.query, parameters: result.parameters ?? [] } satisfies QueryText
      return this.nothing(result)
    }
  }

  orderBy(method: string): NonNullable<CalculatedCode['orderBy']> {
    return descending => {
      const operator = descending ? 'desc' : 'asc'
      const result = this.ask(method, { kind: 'orderBy', operator, descending })
      return typeof result === 'string' ? result : this.nothing(result)
    }
  }

  private compute(rowId: number): Value {
    return computedValue(this.hooks.entityOf(this.binding, rowId), this.attribute)
  }

  /** What the method leaves in the event counts more than what it returns. It is called on the dataclass. */
  private ask(method: string, details: object): unknown {
    const { attribute, binding } = this
    const { name, dataClass } = attribute
    const event: Record<string, unknown> = { ...details, attributeName: name, dataClassName: dataClass.name }
    const code = (binding.entityPrototype as unknown as Record<string, unknown>)[method] as (event: object) => unknown
    const returned = this.read(() => Reflect.apply(code, binding.instance, [event]))
    return event.result ?? returned
  }

  private nothing(result: unknown): undefined {
    if (result === undefined || result === null) return undefined
    const { dataClass, name } = this.attribute
    throw QueryErrors.HANDLER(`${dataClass.name}.${name}`, `gives ${typeof result}, which is no query text`)
  }

  /** In the middle of a read nothing is written. Whoever may read the attribute may see what it is made of. */
  private read<T>(work: () => T): T {
    return this.binding.language.run({ canWrite: false, access: undefined }, work)
  }
}

const isQuery = (value: unknown): value is { query: string; parameters?: unknown } =>
  typeof value === 'object' && value !== null && 'query' in value && typeof value.query === 'string'
