import { DATE_ORDERS, DECIMALS, FORMATS, TABLE_FORMATS } from '../../engine/base/row-formats.ts'
import { type Command, Option } from 'commander'
import { addConfigOptions, addServerOptions, configOf, ofStore, serverOf } from './config-options.ts'
import { FAILED, print } from './outcome.ts'
import { EXPORT_FORMATS } from './export-table/export-format.ts'
import type { LoadArguments } from './load.ts'
import { addColumn, addRelation, addType, list, numberFrom, UsageError } from './option-values.ts'

interface LoadFlags extends Omit<LoadArguments, 'file' | 'create' | 'columns'> {
  readonly newClass?: string | true
  readonly yes: boolean
  readonly type?: Readonly<Record<string, string>>
  readonly key?: string
  readonly newKey?: boolean
  readonly column?: Readonly<Record<string, string | null>>
  readonly relation?: Readonly<Record<string, string>>
}

const RELATION = [
  '--relation <name=Class.attribute>',
  'identify related entities by this indexed attribute instead of their key',
  addRelation,
] as const

/** Value of `--sheet` for all sheets. */
const ALL_SHEETS = '*'
/** Maximum number of rows of a sheet. Source: Excel specifications and limits. */
const MAX_ROWS = 1_048_576
/** Maximum number of lines above a header. */
const MAX_SKIPPED = 100_000

/** Adds the options that say how the rows of a file are written. */
const withFormat = (command: Command): Command =>
  command
    .addOption(
      new Option('--format <format>', 'format of the file; by default from its name').choices([
        ...FORMATS,
        ...TABLE_FORMATS,
      ]),
    )
    .option('--sheet <name|number>', 'sheet of an Excel file; by default the only one with rows')
    .option(
      '--header-row <number>',
      'row of an Excel file with the names of the columns; found by default',
      numberFrom(1, MAX_ROWS),
    )
    .option('--links', 'read the addresses of hyperlinks in an Excel file in place of the texts of their cells')
    .option('--delimiter <character>', 'character between CSV fields, or tab; detected in the header by default')
    .option(
      '--skip-lines <count>',
      'number of lines above the header of a CSV file; detected by default: blank lines, comments with #, titles',
      numberFrom(0, MAX_SKIPPED),
    )
    .option(
      '--path <path>',
      'path to the list of rows in a JSON document, such as data.items or the JSON pointer /data/items; by default its only list of objects',
    )
    .addOption(
      new Option('--decimal <character>', 'decimal character of numbers in CSV; detected by default').choices(DECIMALS),
    )
    .addOption(
      new Option('--dates <order>', 'order of day, month and year of dates in texts; detected by default').choices(
        DATE_ORDERS,
      ),
    )
    .option(
      '--years <first>',
      'first of the hundred years to which years of two digits belong; by default 70 to 99 and 00 to 29 are those from 1970 to 2029',
      numberFrom(1000, 9899),
    )
    .option(
      '--currencies <a,b>',
      'currencies such as $,€ that numbers in texts may have, without which they are loaded; detected by default',
      list,
    )
    .option(
      '--encoding <name>',
      'encoding of the file, such as windows-1252 or utf-16le; detected from its bytes by default',
    )
    .option(
      '--nulls <a,b>',
      'texts in CSV and Excel files that mean null, such as N/A, except in text attributes; detected by default',
      list,
    )

/** `tesser load`, `import` and `export`. */
export function addRowCommands(program: Command): void {
  const load = addConfigOptions(program.command('load'), key => ofStore.test(key))
    .description('Save the rows of a file as entities. Stop the server of the store first.')
    .argument(
      '<file>',
      'CSV with a header line, JSON, NDJSON, GeoJSON, Excel or Parquet file, also .gz or .zst; - for the standard input; or an http address',
    )
    .option('--into <dataClass>', 'dataclass of the entities')
    .option(
      '--new-class [name]',
      'propose a dataclass for the rows, show it, and create it in the model file after you confirm',
    )
    .option('--yes', 'create the proposed dataclass without asking, unless the file leaves a question open', false)
    .option('--type <attribute=type>', 'type of an attribute of the new dataclass: string, day, decimal(2), …', addType)
    .addOption(new Option('--key <attribute>', 'key of the new dataclass').conflicts('newKey'))
    .option('--new-key', 'number the entities by a new attribute, even if a column could be the key')
    .option(
      '--column <name=attribute>',
      'attribute for a column; without an attribute, the column is left out',
      addColumn,
    )
    .option(...RELATION)
    .option(
      '--update',
      'change the entity that has the key of a row; without this option, such a row is an error',
      false,
    )
    .option(
      '--errors <file>',
      'file for rows that cannot be saved, with line and reasons; by default {file}.errors.csv, .errors.ndjson for JSON, .errors.geojsonl for GeoJSON',
    )
    .addOption(new Option('--resume', 'continue an interrupted load of this file').default(false).conflicts('restart'))
    .option('--restart', 'begin with the first row, even though a load of this file was interrupted', false)
  withFormat(load)
    .addHelpText(
      'after',
      `
A relation takes the foreign key, or the key of the related entity. Rows that refer to later rows are tried again
at the end. Dates are ISO dates, durations milliseconds or hh:mm:ss, images and blobs data: URLs, objects JSON. An empty
CSV field is null, "" is an empty string. Rows with a problem are written to the file of errors, the other rows are saved. Fix the
rows in that file, then load it with the same options. The exit code is 1 if a row could not be saved. An interrupted load
continues with --resume. Without it, nothing is saved unless you confirm with --restart that all rows are to be loaded again,
with --update if rows have keys. --sheet '*' with --new-class creates a dataclass for each sheet of an Excel file.`,
    )
    .action(async (file: string, options: LoadFlags, command: Command) => {
      const [{ load }, { loadSheets }, { stopSignal }] = await Promise.all([
        import('./load.ts'),
        import('./load-sheets.ts'),
        import('./start.ts'),
      ])
      const stop = new AbortController()
      void stopSignal().then(() => stop.abort())
      const { newClass, yes, type, key, newKey, column, relation, ...others } = options
      if ((newClass === undefined) === (options.into === undefined))
        throw new UsageError('name the dataclass with --into, or have one created with --new-class')
      const create =
        newClass === undefined
          ? undefined
          : { newClass, yes, types: type, key, newKey, columns: column, relations: relation }
      const config = configOf(command)
      const run = options.sheet === ALL_SHEETS ? loadSheets : load
      const isComplete = await run(
        // The demo has its own model.
        create && config.demo ? configOf(command, { model: 'model.json' }) : config,
        { ...others, file, create, columns: column, relations: relation },
        process.stdout,
        stop.signal,
      )
      if (!isComplete) process.exitCode = FAILED
    })

  const importCommand = addServerOptions(program.command('import'), ' of an administrator')
    .description('Save the rows of a file as entities in a running server.')
    .argument('<file>', 'as for tesser load')
    .requiredOption('--into <dataClass>', 'dataclass of the entities')
    .option('--trial', 'dry run: check all rows and save none', false)
    .addOption(
      new Option('--existing <what>', 'a row whose key exists is an error, changes the entity, or is skipped')
        .choices(['reject', 'update', 'skip'])
        .default('reject'),
    )
    .option(
      '--column <name=attribute>',
      'attribute for a CSV column; without an attribute, the column is left out',
      addColumn,
    )
    .option(...RELATION)
    .option(
      '--errors <file>',
      'file for rows that cannot be saved; by default {file}.errors.csv, .errors.ndjson for JSON, .errors.geojsonl for GeoJSON',
    )
  withFormat(importCommand).action(async (file: string, { column, relation, ...options }, command: Command) => {
    const { importFile } = await import('./import.ts')
    const settings = { ...options, file, columns: column, relations: relation, url: serverOf(command) }
    if (!(await importFile(settings, print))) process.exitCode = FAILED
  })

  addServerOptions(program.command('export'))
    .description('Write entities of a running server to a file.')
    .argument('<dataClass>', 'dataclass of the entities')
    .option(
      '--out <file>',
      'file; its name determines the format: .csv, .ndjson, .json, also .gz and .zst; .xlsx, .parquet, .sqlite; by default the standard output',
    )
    .addOption(
      new Option(
        '--format <format>',
        'format; by default from the name of the file, CSV for the standard output',
      ).choices(EXPORT_FORMATS),
    )
    .option('--filter <query>', 'only the entities that match, as $filter')
    .option('--order <attributes>', 'sort order, as $orderby')
    .option('--attributes <list>', 'attributes to export, also of related entities, as $attributes: name,employer.name')
    .option('--set <id>', 'only the entities of an entity set')
    .option('--top <count>', 'number of entities to export; all by default', Number)
    .action(async (dataClass: string, options, command: Command) => {
      const { exportEntities } = await import('./export.ts')
      const outcome = await exportEntities({ ...options, dataClass, url: serverOf(command) }, process.stdout)
      if (outcome !== undefined) print(outcome)
    })
}
