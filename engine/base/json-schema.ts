/** A JSON Schema, dialect 2020-12, as plain data. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** Schemas of a value that is not null: as answers contain it, and as a save accepts it. */
export interface ValueSchemas {
  readonly sent: JsonSchema
  readonly taken: JsonSchema
}

/** Makes the schemas of a value; without `taken`, saves accept what answers contain. */
export const schemas = (sent: JsonSchema, taken = sent): ValueSchemas => ({ sent, taken })
