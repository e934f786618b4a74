/** JSON Schema of the dialect 2020-12, as plain data. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** Schemas of a value that is not null: as answers have it, and as a save takes it. */
export interface ValueSchemas {
  readonly sent: JsonSchema
  readonly taken: JsonSchema
}

/** Schemas of a value; answers and saves have the same unless it is said. */
export const schemas = (sent: JsonSchema, taken = sent): ValueSchemas => ({ sent, taken })
