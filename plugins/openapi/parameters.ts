import type { DataClass, JsonSchema, View } from '../../engine/index.ts'
import {
  type DataOperation,
  type DeclaredParameter,
  type MethodSpec,
  type Registered,
  SELECTIONS,
} from '../../kernel/api.ts'
import { componentName, ref } from './names.ts'
import { comparable, conditionOn } from './samples.ts'

interface Parameter {
  readonly name: string
  readonly in: 'query' | 'path' | 'header'
  readonly required?: boolean
  readonly description?: string
  readonly schema: JsonSchema
  readonly example?: unknown
}

/** Examples that hold for every dataclass, by the format of a parameter. */
const EXAMPLES: Readonly<Record<string, string>> = {
  condition: '__STAMP > 0',
  order: '__KEY desc',
  attributes: '*',
  relations: '$all',
}

/** The parameters that the plugins of a server have registered, as components of a document. */
export class Parameters {
  /** Components that operations refer to, by name. */
  readonly components: Record<string, Parameter> = {}
  readonly #names: ReadonlyMap<DeclaredParameter, string>

  constructor(
    readonly registrations: Registered,
    private readonly view: View,
  ) {
    this.#names = componentNames(registrations.declared)
  }

  /** True if a plugin has registered a parameter. */
  has(name: string): boolean {
    return this.registrations.declared.some(each => each.name === name)
  }

  /** True if a plugin answers requests with a command. */
  hasCommand(name: string): boolean {
    return this.registrations.declared.some(each => each.name === name && each.verbs)
  }

  /**
   * Parameters of operations; if a name is declared several times, its first declaration.
   * @param dataClass dataclass of the operations, for examples
   */
  on(operations: readonly string[], dataClass?: DataClass): JsonSchema[] {
    return this.#declared(operations).map(each => this.#ref(each, dataClass))
  }

  /** Name of the parameter to which a reference points. */
  nameOf({ $ref }: JsonSchema): string | undefined {
    return this.components[String($ref).split('/').at(-1)!]?.name
  }

  /** The same parameters, all of them optional. */
  optional(operations: readonly string[]): JsonSchema[] {
    return this.#declared(operations).map(each => {
      const { required: _, ...parameter } = parameterOf(each)
      return this.#add(`${this.#names.get(each)}-optional`, parameter)
    })
  }

  /** `$method` with the values that operations accept; none if they accept none. */
  method(operations: readonly DataOperation[], isRequired = false): JsonSchema[] {
    const methods = [...this.registrations.methods].filter(([, method]) =>
      operations.some(each => operationsOfMethod(method).includes(each)),
    )
    if (methods.length === 0) return []
    const names = methods.map(([name]) => name)
    const description = methods.map(([name, { doc }]) => (methods.length === 1 ? doc : `\`${name}\`: ${doc ?? name}`))
    const parameter: Parameter = {
      name: '$method',
      in: 'query',
      ...(isRequired && { required: true }),
      description: description.join(' '),
      schema: { type: 'string', ...(methods.length === 1 ? { const: names[0] } : { enum: names }) },
      // Trying an example must not delete anything.
      ...(!methods[0]![1].verbs.includes('DELETE') && { example: names[0] }),
    }
    return [this.#add(`method-${names.join('-')}${isRequired ? '-required' : ''}`, parameter)]
  }

  /** Properties of a JSON body that has the parameters of an operation. */
  properties(operation: DataOperation): Record<string, JsonSchema> {
    const refs = this.method([operation]).map(each => this.components[String(each.$ref).split('/').at(-1)!]!)
    const all = [...this.#declared([operation]).map(each => parameterOf(each)), ...refs]
    return Object.fromEntries(all.map(({ name, ...each }) => [name, propertyOf(each)]))
  }

  #declared(operations: readonly string[]): DeclaredParameter[] {
    const declarations = new Map<string, DeclaredParameter>()
    for (const each of this.registrations.declared) {
      const isOn = operations.some(operation => operationsOf(each).includes(operation))
      if (isOn && !declarations.has(each.name)) declarations.set(each.name, each)
    }
    return [...declarations.values()]
  }

  #ref(declaration: DeclaredParameter, dataClass: DataClass | undefined): JsonSchema {
    const name = this.#names.get(declaration)!
    if (!dataClass || EXAMPLES[String(declaration.schema.format)] === undefined)
      return this.#add(name, parameterOf(declaration))
    const example = exampleFor(String(declaration.schema.format), dataClass, this.view)
    const { example: _, ...parameter } = parameterOf(declaration)
    return this.#add(`${componentName(dataClass.name)}.${name}`, {
      ...parameter,
      ...(example !== undefined && { example }),
    })
  }

  #add(name: string, parameter: Parameter): JsonSchema {
    this.components[name] ??= parameter
    return ref('parameters', name)
  }
}

const operationsOf = ({ on = SELECTIONS }: DeclaredParameter): readonly string[] => on

const operationsOfMethod = ({ on, verbs }: MethodSpec): readonly string[] =>
  on ?? (verbs.includes('GET') ? SELECTIONS : ['save'])

/**
 * Names of components: `top`; further declarations of a parameter end with the name of their plugin. Unlike names of components of
 * dataclasses, they have no dot.
 */
function componentNames(declarations: readonly DeclaredParameter[]): Map<DeclaredParameter, string> {
  const names = new Map<DeclaredParameter, string>()
  const usedNames = new Set<string>()
  for (const each of declarations) {
    if (operationsOf(each).length === 0) continue
    const plainName = componentName(each.name.slice(1))
    const base = usedNames.has(plainName) ? `${plainName}-${componentName(each.plugin)}` : plainName
    let name = base
    for (let i = 2; usedNames.has(name); i++) name = `${base}-${i}`
    usedNames.add(name)
    names.set(each, name)
  }
  return names
}

function parameterOf({ name, doc, schema, example, required }: DeclaredParameter): Parameter {
  const { format, ...plainSchema } = schema
  // Other tools do not know the formats of texts in the query language.
  const general = EXAMPLES[String(format)]
  const usual = example ?? general
  return {
    name,
    in: 'query',
    ...(required && { required }),
    description: doc,
    schema: general === undefined ? schema : plainSchema,
    ...(usual !== undefined && { example: usual }),
  }
}

/** Property of a JSON body, whose value is not in a string. */
function propertyOf({ schema, description, example }: Omit<Parameter, 'name'>): JsonSchema {
  const isJson = schema.contentSchema !== undefined
  return {
    ...(isJson ? (schema.contentSchema as JsonSchema) : schema),
    description,
    ...(example !== undefined && { examples: [isJson ? JSON.parse(String(example)) : example] }),
  }
}

/** Example of a format that uses attributes of a dataclass. */
function exampleFor(format: string, dataClass: DataClass, view: View): string | undefined {
  if (format === 'relations') {
    return view.attributes(dataClass).find(each => each.kind === 'relatedEntity')?.name
  }
  const [first = dataClass.key] = comparable(dataClass, view)
  const isShown = view.shows(first)
  if (format === 'condition') return isShown ? conditionOn(first) : EXAMPLES.condition
  if (format === 'order') return isShown ? `${first.name} desc` : '__KEY'
  return isShown ? first.name : undefined
}
