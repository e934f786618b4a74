import { MODEL_SCHEMA } from '../engine/catalog/model-schema.ts'
import { ROLES_SCHEMA } from '../engine/permission/roles-schema.ts'
import { CONFIG_FILE_SCHEMA } from './schema.ts'

const DRAFT = 'http://json-schema.org/draft-07/schema#'

/** JSON Schemas of the files that people write, for editors. `tesser schema` prints them. */
export const JSON_SCHEMAS = {
  config: { $schema: DRAFT, title: 'Tesser configuration', ...CONFIG_FILE_SCHEMA },
  model: { $schema: DRAFT, title: 'Tesser data model', ...MODEL_SCHEMA },
  roles: { $schema: DRAFT, title: 'Tesser roles', ...ROLES_SCHEMA },
} as const

export type JsonSchemaName = keyof typeof JSON_SCHEMAS

/** Text of a schema file; committed as `config/tesser.config.schema.json`, `config/model.schema.json` and so on. */
export const printJsonSchema = (name: JsonSchemaName): string => `${JSON.stringify(JSON_SCHEMAS[name], null, 2)}\n`
