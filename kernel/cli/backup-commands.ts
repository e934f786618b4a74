import type { Command } from 'commander'
import type { Config } from '../../config/load-config.ts'
import type { BackupArguments } from './backup.ts'
import { addConfigOptions, configOf } from './config-options.ts'
import { FAILED, print } from './outcome.ts'
import { daysOf, UsageError } from './option-values.ts'

const PLACE = 'folder of backups, or s3://bucket/prefix'
const ENDPOINT = [
  '--endpoint <url>',
  'server of the bucket if it is not Amazon, such as https://minio.example:9000',
] as const

/** `tesser backup`, `restore`, `dump` and `undump`. */
export function addBackupCommands(program: Command): void {
  const backup = addConfigOptions(program.command('backup').usage('[options] <folder>'), key =>
    /^(model|data|storage\.mapSizeBytes|backup\.fullDays|auth\.(rolesFile|directoryFile))$/.test(key),
  )
    .description('Make a backup of the store in a folder of backups. A server may be using the store.')
    .argument('[folder]', `${PLACE}; by default backup.folder of the configuration`)
    .option(...ENDPOINT)
    .option('--full', 'copy the data file, even if the commits since the last backup would be enough', false)
    .option('--keep-days <days>', 'remove older backups, unless a newer backup needs them', daysOf)
    .addHelpText(
      'after',
      `
A backup has the data file, the images and blobs, and the files of configuration, model, roles and users. If the commit log still
has the commits since the last backup (storage.logBytes), those commits are enough. tesser restore restores a store.

A bucket needs a key in the environment: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and, for Amazon, AWS_REGION.`,
    )
    .action(async (folder: string | undefined, { full, keepDays }: BackupArguments, command: Command) => {
      const config = configOf(command)
      const place = placeOf(command, folder, config)
      print(await (await import('./backup.ts')).backup(config, { place, full, keepDays }))
    })

  backup
    .command('list')
    .description('List the backups of a folder.')
    .argument('<folder>', PLACE)
    .option(...ENDPOINT)
    .action(async (folder: string, _, command: Command) =>
      (await (await import('./backup.ts')).listBackups(placeOf(command, folder))).forEach(print),
    )

  addConfigOptions(backup.command('verify'), key => key === 'storage.mapSizeBytes')
    .description(
      'Restore a backup into a temporary folder, and check the store. The exit code is 1 if there are problems.',
    )
    .argument('<folder>', PLACE)
    .argument('[name]', 'name of the backup; the newest by default')
    .option(...ENDPOINT)
    .option('--temp <folder>', 'folder for the restored store; by default the folder of the system for temporary files')
    .action(async (folder: string, name: string | undefined, { temp }: { temp?: string }, command: Command) => {
      const { verify } = await import('./backup.ts')
      const config = configOf(command)
      const place = placeOf(command, folder, config)
      if (!(await verify(config, { place, name, temp }, print))) process.exitCode = FAILED
    })

  addConfigOptions(program.command('restore'), key => /^(model|data|storage\.(mapSizeBytes|allowLoss))$/.test(key))
    .description('Restore a store from backups, into a folder (--data) that is empty or does not exist.')
    .argument('[folder]', `${PLACE}; by default backup.folder of the configuration`)
    .option(...ENDPOINT)
    .option('--backup <name>', 'name of the backup; the newest by default')
    .option(
      '--at <moment>',
      'restore the last state that is not later: a time, such as 2026-01-31T09:30, or a __GlobalStamp',
    )
    .action(
      async (folder: string | undefined, { backup: name, at }: { backup?: string; at?: string }, command: Command) => {
        const config = configOf(command)
        const place = placeOf(command, folder, config)
        print(await (await import('./backup.ts')).restore(config, { place, name, at }))
      },
    )

  addConfigOptions(program.command('dump'), key =>
    /^(data|storage\.mapSizeBytes|auth\.(rolesFile|directoryFile))$/.test(key),
  )
    .description(
      'Write everything of a store into a folder, in a form that all versions read. A server may be using it.',
    )
    .argument('<folder>', 'folder that is empty or does not exist')
    .option('--with-accounts', 'also write roles, users and keys; passwords and keys are hashes', false)
    .action(async (folder: string, { withAccounts }: { withAccounts: boolean }, command: Command) =>
      print(await (await import('./dump.ts')).dump(configOf(command), { folder, withAccounts })),
    )

  addConfigOptions(program.command('undump'), key =>
    /^(data|storage\.mapSizeBytes|protocol\.dateOnlyFormat|server\.basePath|auth\.(rolesFile|directoryFile))$/.test(
      key,
    ),
  )
    .description('Create a store from a dump, in a folder (--data) that is empty or does not exist.')
    .argument('<folder>', 'folder of the dump')
    .option('--model <file>', 'model of the store, instead of the model in the dump')
    .option('--leave-out-unknown', 'leave out data that the other model does not have', false)
    .option('--with-accounts', 'also write the files of roles, users and keys', false)
    .action(
      async (
        folder: string,
        options: { model?: string; leaveOutUnknown: boolean; withAccounts: boolean },
        command: Command,
      ) => print(await (await import('./dump.ts')).undump(configOf(command), { ...options, folder })),
    )
}

/** The place that a command names, or else the one in the configuration. @throws {UsageError} there is neither */
function placeOf(command: Command, folderOption: string | undefined, config?: Config): BackupArguments['place'] {
  const folder = folderOption ?? config?.backup.folder
  if (folder === undefined) throw new UsageError('name the folder of the backups, or set backup.folder')
  // The parent command takes a flag that both commands have.
  return { folder, endpoint: command.optsWithGlobals<{ endpoint?: string }>().endpoint ?? config?.backup.endpoint }
}
