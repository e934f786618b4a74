import type { ParameterSpec, ServiceSpec } from '../../kernel/api.ts'

const text = { type: 'string' }
const oneOf = (...values: string[]) => ({ type: 'string', enum: values })

export const PARAMETERS: Readonly<Record<`$${string}`, ParameterSpec>> = {
  $format: {
    schema: oneOf('csv', 'ndjson', 'json', 'geojson', 'geojsonl'),
    doc: 'Format of the rows; by default according to the content type.',
    example: 'csv',
  },
  $existing: {
    schema: oneOf('reject', 'update', 'skip'),
    doc: 'Effect on a row whose key exists: it is an error, it changes the entity, or it is skipped.',
    example: 'update',
  },
  $trial: { schema: { type: 'boolean' }, doc: 'Checks all rows and saves none.', example: true },
  $columns: {
    schema: text,
    doc: 'JSON object with an attribute for each column name; null leaves a column out, `{"attribute":"employer","by":"Company.name"}` looks up a related entity.',
  },
  $delimiter: { schema: text, doc: 'Character between CSV fields, or `tab`.' },
  $skipLines: {
    schema: { type: 'integer', minimum: 0, maximum: 999_999 },
    doc: 'Number of lines above the header; by default blank lines, comments and titles are recognized.',
  },
  $listPath: {
    schema: text,
    doc: 'Path to the list of rows in a JSON document: dotted names, or a JSON pointer.',
    example: 'data.items',
  },
  $decimal: { schema: oneOf('.', ','), doc: 'Decimal character of numbers.' },
  $dates: { schema: oneOf('ymd', 'dmy', 'mdy'), doc: 'Order of day, month and year.' },
  $years: {
    schema: { type: 'integer', minimum: 1000, maximum: 9899 },
    doc: 'First of the hundred years to which years of two digits belong.',
  },
  $currencies: { schema: text, doc: 'Currencies such as `$,€` that numbers may have; they are left out.' },
  $encoding: { schema: text, doc: 'Encoding of the body, such as `windows-1252`; UTF-8 by default.' },
  $nulls: {
    schema: text,
    doc: 'CSV values that mean null, separated by commas; they do not apply to text attributes.',
  },
  $rejected: {
    schema: oneOf('objects', 'texts'),
    doc: 'Form of rejected rows in the answer: objects by default, or their texts in the body.',
  },
  $preview: {
    schema: { type: 'integer', minimum: 1, maximum: 100 },
    doc: 'Number of rows to read and check without saving any. The beginning of the file is enough.',
  },
  $id: { schema: text, doc: 'Name of the import, to find it in the list and to end it.' },
}

export const OPERATIONS: ServiceSpec['operations'] = {
  'GET /': { id: 'imports', doc: 'Running imports' },
  'POST /{name}': {
    id: 'import',
    doc: 'Saves the rows of a file as entities; with `$preview` shows its columns and first rows',
    path: {
      name: { schema: { type: 'string', format: 'dataclass' }, doc: 'Name of a dataclass.' },
    },
    body: { types: ['text/csv', 'application/x-ndjson'], schema: text },
    answers: { 200: { doc: 'Counts, and the rows that could not be saved.' } },
  },
  'DELETE /{name}': {
    id: 'import.stop',
    doc: 'Ends an import; the rows that it has saved stay',
    path: { name: { schema: text, doc: 'Name of the import, as in the list.' } },
  },
}
