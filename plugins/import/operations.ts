import type { ParameterSpec, ServiceSpec } from '../../kernel/api.ts'

const text = { type: 'string' }
const oneOf = (...values: string[]) => ({ type: 'string', enum: values })

export const PARAMETERS: Readonly<Record<`$${string}`, ParameterSpec>> = {
  $format: {
    schema: oneOf('csv', 'ndjson', 'json'),
    doc: 'Format of the rows; by default the content type says it.',
    example: 'csv',
  },
  $existing: {
    schema: oneOf('reject', 'update', 'skip'),
    doc: 'What happens to a row whose key exists: it is an error, changes that entity, or is left out.',
    example: 'update',
  },
  $trial: { schema: { type: 'boolean' }, doc: 'Checks all rows and saves none.', example: true },
  $columns: {
    schema: text,
    doc: 'JSON object: attributes by the names of columns; null leaves a column out, `{"attribute":"employer","by":"Company.name"}` looks a related entity up.',
  },
  $delimiter: { schema: text, doc: 'Character between CSV fields, or `tab`.' },
  $decimal: { schema: oneOf('.', ','), doc: 'Decimal character of numbers.' },
  $dates: { schema: oneOf('ymd', 'dmy', 'mdy'), doc: 'Order of day, month and year.' },
  $encoding: { schema: text, doc: 'Encoding of the body, such as `windows-1252`; UTF-8 by default.' },
  $nulls: { schema: text, doc: 'Texts of CSV that mean null, with commas between, except in attributes of texts.' },
  $preview: {
    schema: { type: 'integer', minimum: 1, maximum: 100 },
    doc: 'Number of rows that are read and checked; none is saved. The beginning of a file is enough.',
  },
  $id: { schema: text, doc: 'Name of the import, in the list and for its end.' },
}

export const OPERATIONS: ServiceSpec['operations'] = {
  'GET /': { id: 'imports', doc: 'Imports that are running' },
  'POST /{dataClass}': {
    id: 'import',
    doc: 'Saves the rows of a file as entities; with `$preview` shows its columns and first rows',
    path: {
      dataClass: { schema: { type: 'string', format: 'dataclass' }, doc: 'Name of a dataclass.' },
    },
    body: { types: ['text/csv', 'application/x-ndjson'], schema: text },
    answers: { 200: { doc: 'Counts, and the rows that could not be saved.' } },
  },
  'DELETE /{id}': {
    id: 'import.stop',
    doc: 'Ends an import; rows that it has saved stay',
    path: { id: { schema: text } },
  },
}
