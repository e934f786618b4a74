import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, relative } from 'node:path'
import { createInterface } from 'node:readline/promises'
import type { Config } from '../../config/load-config.ts'
import { readJsonFile } from '../../config/read-json-file.ts'
import { InputError } from '../../engine/base/input-error.ts'
import { excerpt } from '../../engine/base/text/excerpt.ts'
import {
  attributeName,
  type FileSample,
  hintFor,
  misfits,
  nameColumns,
  proposeClass,
  type ProposedClass,
  type RelationsBy,
  relationsOf,
} from '../../engine/command-line.ts'
import { type DataClass, loadModel } from '../../engine/index.ts'
import { add, type DraftModel } from './draft-model.ts'
import { insertJson } from './insert-json.ts'
import { addRelations } from './new-relations.ts'
import { type ColumnMisfits, showProposal } from './show-proposal.ts'

/** Options for creating a dataclass from a file, in place of guesses. */
export interface NewClassOptions {
  /** Name of the dataclass; true to derive it from the name of the file. */
  readonly newClass: string | true
  /** Attributes by the names of columns; null for a column that is left out. */
  readonly columns?: Readonly<Record<string, string | null>> | undefined
  /** Types by attribute: `decimal(2)`. */
  readonly types?: Readonly<Record<string, string>> | undefined
  /** Attribute that is the key. */
  readonly key?: string | undefined
  /** True if a new attribute numbers the entities, whatever could be the key. */
  readonly newKey?: boolean
  /** Attributes that identify related entities, by the attribute that becomes a relation. */
  readonly relations?: RelationsBy | undefined
  /** True to create it without asking. */
  readonly yes?: boolean
}

/** A dataclass that is to be created. */
export interface NewClass {
  readonly name: string
  /** Content of the model file including the dataclass. */
  readonly model: unknown
  /** Attributes of the columns, in their order. */
  readonly attributes: readonly (string | null)[]
  readonly nulls: readonly string[]
  /** Rules for the values that a load of the file keeps, by attribute. */
  readonly values: ProposedClass['values']
  /** Writes the model file. */
  write(): void
  /** Restores the model file. */
  undo(): void
}

/** The terminal of a command. */
export interface Dialog {
  print(line: string): void
  /** Asks the user a question. @returns undefined without a terminal */
  ask(question: string): Promise<string | undefined>
}

export const terminal: Dialog = {
  print: line => void process.stderr.write(`${line}\n`),
  async ask(question) {
    if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined
    const lines = createInterface({ input: process.stdin, output: process.stderr })
    try {
      return await lines.question(question)
    } finally {
      lines.close()
    }
  },
}

/**
 * Proposes a dataclass for the rows of a file, shows it, and asks whether it is to be created. Writes nothing.
 * @param as how the file is read, for the user
 * @throws {Error} it cannot be created, or is not wanted
 */
export async function newClass(
  config: Config,
  file: string,
  sample: FileSample,
  as: string,
  options: NewClassOptions,
  dialog: Dialog,
): Promise<NewClass> {
  const name = options.newClass === true ? classNameOf(basename(file).split('.')[0]!) : options.newClass
  const { text, model, isNew } = readModel(config.model, name)
  if (Object.hasOwn(model.dataClasses, name))
    throw new InputError(`${config.model} has a dataclass ${name} already; --into ${name} loads into it`)
  if (sample.columns.length === 0) throw new InputError(`${file} is empty: it has no columns for a dataclass`)
  refuseUnreadable(file, sample)
  const { key, types } = named(sample, options)
  const proposal = proposeClass({
    className: name,
    columns: sample.columns,
    isTyped: sample.isTyped,
    hasFields: sample.hasFields,
    isWhole: sample.isWhole,
    format: sample.format,
    names: options.columns ?? {},
    types: Object.fromEntries(Object.entries(types).map(([each, type]) => [each, typeOf(each, type)])),
    key: options.newKey ? null : key,
  })
  const relatedClass = addRelations(
    name,
    proposal.dataClass,
    model,
    relationsOf(options.relations ?? {}, options.columns, each => Object.hasOwn(proposal.dataClass.attributes, each)),
  )
  model.dataClasses[name] = relatedClass.dataClass
  add(model, { attributes: relatedClass.inverses })
  const columnMisfits = misfitsOf(loadModel(model).dataClassesByName.get(name)!, proposal, sample)
  refuseMisfits(columnMisfits, sample, types)
  refuseUnusable(file, proposal, sample)
  const questions = openQuestions(sample, proposal)
  showProposal(
    { file, as, name, sample, proposed: proposal, relatedClass, misfits: columnMisfits, questions },
    dialog.print,
  )
  if (options.yes) refuseQuestions(questions)
  else await agree(`Create the dataclass ${name} in ${shortPath(config.model)} and load all rows? [y/N] `, dialog)
  return {
    name,
    model,
    attributes: proposal.columns.map(({ attribute }) => attribute),
    nulls: proposal.nulls,
    values: proposal.values,
    write() {
      let newText = insertJson(text, ['dataClasses'], name, relatedClass.dataClass)
      // The new dataclass already has its own inverse relations.
      for (const [target, inverse, attribute] of relatedClass.inverses.filter(([owner]) => owner !== name))
        newText = insertJson(newText, ['dataClasses', target, 'attributes'], inverse, attribute)
      writeFileSync(config.model, newText)
    },
    undo() {
      if (isNew) rmSync(config.model, { force: true })
      else writeFileSync(config.model, text)
    },
  }
}

/** Options in which a column is named by its header, with the attribute that it becomes. */
function named(
  { columns }: FileSample,
  { columns: names = {}, key, types = {} }: NewClassOptions,
): { key: string | undefined; types: Record<string, string> } {
  const attributes = nameColumns(columns, names)
  const attributeOf = (name: string): string =>
    attributes.includes(name) ? name : (attributes[columns.findIndex(column => column.name === name)] ?? name)
  return {
    key: key === undefined ? undefined : attributeOf(key),
    types: Object.fromEntries(Object.entries(types).map(([name, type]) => [attributeOf(name), type])),
  }
}

/** @throws {InputError} no row of the sample can be read */
function refuseUnreadable(
  file: string,
  { unreadable, rows, notes = [], hasFields, isTyped, format }: FileSample,
): void {
  const [wrong] = unreadable
  if (!wrong || rows > 0) return
  const header = `is line ${(format.skipLines ?? 0) + 1} the header? --skip-lines leaves out the lines above it`
  const hints = [...notes, ...(hasFields && !isTyped ? [header] : []), 'nothing was created']
  throw new InputError(`no row of ${file} can be read: line ${wrong.line}: ${wrong.reason}; ${hints.join('; ')}`)
}

/** @throws {InputError} each row has the key of another one, or none */
function refuseUnusable(file: string, { dataClass, rowsWithoutKey }: ProposedClass, { rows }: FileSample): void {
  if (rows === 0 || rowsWithoutKey < rows) return
  throw new InputError(`no row of ${file} has a value for the key ${dataClass.key}; nothing was created`)
}

/** Questions about columns whose types are guessed, and about the key. */
function openQuestions({ open }: FileSample, { columns, rivalKeys }: ProposedClass): string[] {
  const isGuessed = (index: number): boolean => columns[index]!.isGuessed
  const texts = open.flatMap(({ text, columns: indexes }) => {
    const [first] = indexes.filter(isGuessed)
    return first === undefined ? [] : [`${text}, --type ${columns[first]!.attribute}=string keeps the texts`]
  })
  if (rivalKeys.length === 0) return texts
  const [first] = rivalKeys
  const key = `${rivalKeys.join(', ')} could each be the key: --key ${first} chooses one, --new-key numbers the entities`
  return [...texts, key]
}

/** @throws {InputError} a guess would answer a question */
function refuseQuestions(questions: readonly string[]): void {
  if (questions.length > 0)
    throw new InputError(
      `nothing was created, because --yes does not answer a question of the file:\n${questions.map(text => `  ${text}`).join('\n')}`,
    )
}

/** Reads the model file, or begins a new one. */
function readModel(path: string, className: string): { text: string; model: DraftModel; isNew: boolean } {
  const isNew = !existsSync(path)
  const text = isNew
    ? `{\n  "name": ${JSON.stringify(className.toLowerCase())},\n  "dataClasses": {}\n}\n`
    : readFileSync(path, 'utf8')
  const model = isNew ? JSON.parse(text) : readJsonFile(path, 'model')
  // Throws an error that describes whatever is invalid.
  loadModel(model)
  return { text, model: model as DraftModel, isNew }
}

/** Name of a dataclass for the name of a file or of a sheet: `swiss cities` → `SwissCities`. */
export function classNameOf(text: string): string {
  const name = attributeName(text)
  if (name === '')
    throw new InputError(`no dataclass name follows from the name "${text}": give one with --new-class NAME`)
  return name.charAt(0).toUpperCase() + name.slice(1)
}

const TYPE = /^(\w+)(?:\((\d+)\))?$/

/** `string`, `decimal(2)`, `vector(384)`, `day` for a date without a time. */
function typeOf(attribute: string, text: string): { type: never } {
  const [, type, size] = TYPE.exec(text) ?? []
  if (type === undefined)
    throw new InputError(`--type ${attribute}=${text}: give a type such as string, day or decimal(2)`)
  if (type === 'day') return { type: 'date', simpleDate: true } as never
  const option = size !== undefined && { [type === 'vector' ? 'dimension' : 'scale']: Number(size) }
  return { type, ...option } as never
}

function misfitsOf(
  { attributesByName }: DataClass,
  { columns, nulls }: ProposedClass,
  sample: FileSample,
): ColumnMisfits[] {
  return columns.flatMap(({ attribute, column }) => {
    if (attribute === null) return []
    const format = { ...sample.format, nulls }
    const all = [...misfits(attributesByName.get(attribute)!, column.values, sample, format)]
    if (all.length === 0) return []
    const hint = sample.hasFields ? hintFor(attributesByName.get(attribute)!, all[0]!.text, format) : undefined
    return [{ attribute, column: column.name, all, hint }]
  })
}

/** @throws {InputError} a value of the sample is not of the type that `--type` gives its attribute */
function refuseMisfits(
  misfits: readonly ColumnMisfits[],
  sample: FileSample,
  types: Readonly<Record<string, string>>,
): void {
  for (const { attribute, column, all, hint } of misfits) {
    if (!Object.hasOwn(types, attribute)) continue
    const without = sample.hasFields ? ', or name it with --nulls if it stands for null' : ''
    const help = hint ? `; ${hint}` : ''
    throw new InputError(
      `--type ${attribute}=${types[attribute]}: column "${column}" has ${JSON.stringify(excerpt(all[0]!.text))}: ${all[0]!.reason}; correct it, choose another type${without}${help}`,
    )
  }
}

async function agree(question: string, { ask }: Dialog): Promise<void> {
  const answer = await ask(question)
  if (answer === undefined)
    throw new InputError('nothing was created, because you have to confirm it: use --yes, or answer at a terminal')
  if (!/^\s*y(es)?\s*$/i.test(answer))
    throw new InputError('nothing was created; --column, --type and --key change the proposal')
}

const shortPath = (path: string): string => {
  const short = relative(process.cwd(), path)
  return short.startsWith('..') ? path : short
}

/** Command that serves the store of a configuration. */
export const startCommand = (config: Config): string => ['npx tesser start', ...storeOptions(config)].join(' ')

/** Options that name the model and the store of a configuration, unless a file does. */
export function storeOptions({ file, model, data, folder }: Config): string[] {
  if (file !== undefined) return []
  const isUsual = relative(folder, data) === 'data/store'
  return ['--model', shortPath(model), ...(isUsual ? [] : ['--data', shortPath(data)])]
}
