/** A JSON Schema, dialect 2020-12, as plain data. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** Schemas of a value that is not null: as answers contain it, and as a save accepts it. */
export interface ValueSchemas {
  readonly output: JsonSchema
  readonly input: JsonSchema
}

/** Makes the schemas of a value; without `input`, saves accept what answers contain. */
export const schemas = (output: JsonSchema, input = output): ValueSchemas => ({ output, input })
