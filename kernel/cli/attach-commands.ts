import type { Command } from 'commander'
import type { AttachArguments } from './attach-database/attach-database.ts'
import { addPair, addTo, numericType, UsageError } from './option-values.ts'
import { print } from './outcome.ts'

/** `tesser attach`. */
export function addAttachCommand(program: Command): void {
  program
    .command('attach')
    .description(
      'Create a model file and a config file for tables that stay in a PostgreSQL database. Reads only the catalog of the database and copies nothing.',
    )
    .argument('<address>', 'postgres://user@host/database')
    .option('--to <folder>', 'folder for model.json, tesser.config.json and prepare.sql', '.')
    .option('--connection <name>', 'name of the connection', connectionName, 'main')
    .option('--schema <name>', 'attach the tables of this schema; repeat it for several; all by default', addTo)
    .option('--only <table>', 'a table to attach; repeat it for several; all by default', addTo)
    .option('--table <old=New>', 'dataclass name for a table; repeat it for several', addPair('table'))
    .option(
      '--key <name=column>',
      'a view or a table without a key, and its key column, or several columns: a,b',
      addPair('key'),
    )
    .option('--stamp <column>', 'column of whole numbers that is used as the stamp, in every table that has it')
    .option('--timestamp <column>', 'column with the time of the last change, in every table that has it')
    .option(
      '--numeric <type>',
      'type for exact numbers that may have more than 18 digits: number, string or decimal(places); number by default',
      numericType,
    )
    .addHelpText(
      'after',
      `
The files must not exist. The command lists what it could not map. The password comes from PGPASSWORD, .pgpass, the address or a prompt on the
terminal, and is not written to a file: if it came from the address or the terminal, the config file refers to an environment variable.`,
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
