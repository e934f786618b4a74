import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { quantity } from '../../../engine/base/counted.ts'
import { suggestion } from '../../../engine/base/suggestion.ts'
import { foldFunction } from '../../../engine/command-line.ts'
import { loadModel } from '../../../engine/index.ts'
import { modelText, schemaReference } from '../draft-model.ts'
import { openSource } from '../clone-database/open-source.ts'
import { SourceError, type SourceTable, type SqlSource } from '../clone-database/source.ts'
import { attachedModel, type AttachedModel, type AttachOptions } from './attached-model.ts'
import { prepareSql } from './prepare-sql.ts'

export interface AttachArguments extends Omit<AttachOptions, 'name'> {
  /** Address of the database, `postgres://…`. */
  readonly source: string
  /** Folder of the files that are written. */
  readonly to: string
  /** Tables and views that are attached; all by default. */
  readonly only?: readonly string[] | undefined
  /** Schemas whose tables are attached; all by default. */
  readonly schemas?: readonly string[] | undefined
}

/** Schema with the tables that belong to the server itself. */
const OWN_SCHEMA = 'tesser'

/**
 * `tesser attach`: writes a model whose dataclasses are tables of a PostgreSQL database, and a config file with the connection. Only the
 * catalog of the database is read.
 * @throws {SourceError} with a remedy
 */
export async function attachDatabase(settings: AttachArguments, print: (line: string) => void): Promise<void> {
  if (!/^postgres(?:ql)?:\/\//i.test(settings.source))
    throw new SourceError(
      'only PostgreSQL databases can be attached: postgres://user@host/database; tesser clone copies other databases',
    )
  const paths = filesIn(settings.to)
  const source = await openSource(settings.source)
  try {
    const tables = await readTables(source, settings, print)
    const { pathname } = new URL(source.address)
    const result = attachedModel(tables, { ...settings, name: decodeURIComponent(basename(pathname)) || 'database' })
    result.notes.forEach(print)
    if (result.leftOut.length > 0)
      print(
        `tables without a key are left out; --key NAME=COLUMN attaches one read-only, if the values of the column, or of several, COLUMN,COLUMN, are unique and never null: ${result.leftOut.join(', ')}`,
      )
    if (result.tables.size === 0) throw new SourceError(`${source.address} has no tables that can be attached`)
    writeFiles(paths, source, result, settings, print)
  } finally {
    await source.close()
  }
}

interface Files {
  readonly model: string
  readonly config: string
  readonly sql: string
}

/** @throws {SourceError} one of the files exists */
function filesIn(folder: string): Files {
  const files = {
    model: join(folder, 'model.json'),
    config: join(folder, 'tesser.config.json'),
    sql: join(folder, 'prepare.sql'),
  }
  const existingFile = Object.values(files).find(file => existsSync(file))
  if (existingFile === undefined) return files
  throw new SourceError(
    `${existingFile} exists; write to another folder with --to FOLDER, and copy the dataclasses and the connection from there`,
  )
}

/** Tables of the database that the options do not exclude. */
async function readTables(
  source: SqlSource,
  { only, schemas, names, keys }: AttachArguments,
  print: (line: string) => void,
): Promise<SourceTable[]> {
  const { tables, notes, views } = await source.tables(new Set([...Object.keys(keys), ...(only ?? [])]))
  notes.forEach(print)
  const tableNames = tables.map(({ name }) => name)
  for (const [option, givenNames] of [
    ['only', only ?? []],
    ['table', Object.keys(names)],
    ['key', Object.keys(keys)],
  ] as const)
    for (const name of givenNames)
      if (!tableNames.includes(name))
        throw new SourceError(
          `--${option} ${name}: ${source.address} has no table or view of that name that this user may read${suggestTable(name, [...tableNames, ...views])}`,
        )
  const schemaNames = new Set(tables.map(({ place }) => place!.schema))
  for (const schema of schemas ?? [])
    if (!schemaNames.has(schema))
      throw new SourceError(
        `--schema ${schema}: ${source.address} has no tables there${suggestion(schema, schemaNames)}`,
      )
  if (views.length > 0)
    print(
      `--key VIEW=COLUMN attaches a view read-only, if the values of the column are unique and never null; there are: ${views.join(', ')}`,
    )
  return tables.filter(
    ({ name, place }) =>
      (schemas ? schemas.includes(place!.schema) : place!.schema !== OWN_SCHEMA) &&
      (!only || only.includes(name) || Object.hasOwn(keys, name)),
  )
}

/** A table whose name exists once is named without its schema. */
function suggestTable(name: string, names: readonly string[]): string {
  const ownName = name.slice(name.indexOf('.') + 1)
  return suggestion(names.includes(ownName) ? ownName : name, names)
}

function writeFiles(
  files: Files,
  source: SqlSource,
  { model, tables }: AttachedModel,
  { connection, to }: AttachArguments,
  print: (line: string) => void,
): void {
  loadModel(model)
  const { username } = new URL(source.address)
  const { sql, indexes } = prepareSql(foldFunction(), model, tables, decodeURIComponent(username) || undefined)
  const variable = `TESSER_${connection.replaceAll('-', '_').toUpperCase()}_PASSWORD`
  const config = {
    $schema: schemaReference(files.config, 'tesser.config'),
    model: basename(files.model),
    connections: {
      [connection]: { url: source.address, ...(source.hasPassword && { password: { env: variable } }) },
    },
  }
  mkdirSync(to, { recursive: true })
  write(files.model, modelText(model, files.model))
  write(files.config, `${JSON.stringify(config, null, 2)}\n`)
  write(files.sql, sql)
  const relations = Object.values(model.dataClasses)
    .flatMap(({ attributes }) => Object.values(attributes))
    .filter(({ kind }) => kind === 'relatedEntity')
  print(
    `${quantity(tables.size, 'dataclass', 'dataclasses')} with ${quantity(relations.length, 'relation')} in ${files.model}; the connection is in ${files.config}`,
  )
  print(
    `optional, after a look at the file: psql '${source.address.replaceAll("'", "'\\''")}' -f ${files.sql} lets text searches and relations use indexes, with the function tesser.fold and ${quantity(indexes, 'index', 'indexes')}`,
  )
  if (source.hasPassword)
    print(`the password is not in a file: the server reads it from the environment variable ${variable}`)
  const option = to === '.' ? '' : ` --config ${files.config}`
  print(`next: ${source.hasPassword ? `${variable}=… ` : ''}npx tesser start${option}`)
}

const write = (path: string, text: string): void => writeFileSync(path, text, { flag: 'wx' })
