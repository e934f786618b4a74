/** A JSON Schema, dialect 2020-12, as plain data. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** Schemas of a value that is not null: as answers contain it, and as a save accepts it. */
export interface ValueSchemas {
  readonly output: JsonSchema
  readonly input: JsonSchema
}

/** Makes the schemas of a value; without `input`, saves accept what answers contain. */
export const schemas = (output: JsonSchema, input = output): ValueSchemas => ({ output, input })

/** Keywords with values in place of schemas. */
const VALUES: ReadonlySet<string> = new Set(['default', 'const', 'enum', 'example', 'examples'])
/** Keywords with schemas by names, which are not keywords. */
const BY_NAME: ReadonlySet<string> = new Set([
  ...['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'],
])

/** A schema with what `change` returns in place of each schema in it, inner ones first. Values, such as defaults, stay as they are. */
export function mapSchema(schema: unknown, change: (part: JsonSchema) => unknown): unknown {
  const visit = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(visit)
    return isObject(part) ? change(mapMembers(part, visitMember)) : part
  }
  const visitMember = (value: unknown, keyword: string): unknown => {
    if (VALUES.has(keyword)) return value
    return BY_NAME.has(keyword) && isObject(value) ? mapMembers(value, visit) : visit(value)
  }
  return visit(schema)
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const mapMembers = (value: object, change: (member: unknown, name: string) => unknown): JsonSchema =>
  Object.fromEntries(Object.entries(value).map(([name, member]) => [name, change(member, name)]))
