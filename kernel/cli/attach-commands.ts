import type { Command } from 'commander'
import type { AttachArguments } from './attach-database/attach-database.ts'
import { addPair, addTo, numericType, UsageError } from './option-values.ts'
import { print } from './outcome.ts'

/** `tesser attach`. */
export function addAttachCommand(program: Command): void {
  program
    .command('attach')
    .description(
      'Make a model file and a config file for tables that stay in a PostgreSQL database. Only its catalog is read, and nothing is copied.',
    )
    .argument('<address>', 'postgres://user@host/database')
    .option('--to <folder>', 'folder for model.json, tesser.config.json and prepare.sql', '.')
    .option('--connection <name>', 'name of the connection', connectionName, 'main')
    .option('--schema <name>', 'a schema whose tables are attached, once for each; all by default', addTo)
    .option('--only <table>', 'a table that is attached, once for each; all by default', addTo)
    .option('--table <old=New>', 'name of the dataclass of a table, once for each', addPair('table'))
    .option(
      '--key <name=column>',
      'a view, or a table without a key, and the column that is its key, or several: a,b',
      addPair('key'),
    )
    .option('--stamp <column>', 'column of whole numbers that is the stamp, in every table that has it')
    .option('--timestamp <column>', 'column with the time of the last change, in every table that has it')
    .option(
      '--numeric <type>',
      'type of exact numbers that may have more than 18 digits: number, string or decimal(places); number by default',
      numericType,
    )
    .addHelpText(
      'after',
      `
The files must not exist. What could not be mapped is listed. The password comes from PGPASSWORD, .pgpass, the address, or an answer on the
terminal, and is not written: where the address or the terminal had it, the config file refers to a variable.`,
    )
    .action(async (source: string, { schema, table, key, ...options }: AttachFlags) => {
      const { attachDatabase } = await import('./attach-database/attach-database.ts')
      // A password in the address is hidden from lists of processes.
      process.title = 'tesser attach'
      await attachDatabase({ ...options, source, schemas: schema, names: table ?? {}, keys: key ?? {} }, print)
    })
}

type AttachFlags = Omit<AttachArguments, 'source' | 'schemas' | 'names' | 'keys'> & {
  schema?: string[]
  table?: Record<string, string>
  key?: Record<string, string>
}

function connectionName(text: string): string {
  if (/^[a-z][\w-]*$/i.test(text)) return text
  throw new UsageError(`--connection ${text}: a name has letters, digits, "_" and "-", and begins with a letter`)
}
