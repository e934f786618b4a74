import { type Command, Option } from 'commander'
import { type Config, loadConfig } from '../../config/load-config.ts'
import { CONFIG_KEYS, type ConfigKey, flagNames, optionOf } from '../../config/schema.ts'
import { serverAddress } from './server-address.ts'

/** Adds `--config` and a flag for each option of the configuration whose key passes `filter`. */
export function addConfigOptions(command: Command, filter: (key: ConfigKey) => boolean = () => true): Command {
  command.addOption(
    new Option('--config <file>', 'Config file; by default tesser.config.json, if it exists.').helpGroup(
      'Configuration:',
    ),
  )
  for (const key of CONFIG_KEYS.filter(filter)) {
    const { doc, schema } = optionOf(key)
    const value =
      schema.type === 'boolean'
        ? '[true|false]'
        : schema.enum
          ? `<${schema.enum.join('|')}>`
          : `<${placeholder(schema.type)}>`
    const initial = schema.default === undefined || `${schema.default}` === '' ? '' : ` (${schema.default})`
    for (const [i, name] of flagNames(key).entries()) {
      const option = new Option(`--${name} ${value}`, doc.replaceAll('`', '') + initial).helpGroup('Configuration:')
      // The long name works too, but one line of help is enough.
      command.addOption(i > 0 ? option.hideHelp() : option)
    }
  }
  return command
}

const placeholder = (type: unknown): string =>
  type === 'integer' ? 'n' : type === 'array' ? 'a,b' : Array.isArray(type) ? 'size' : 'text'

/**
 * Configuration from the flags of a command, the environment and the config file.
 * @param extraFlags values of flags that the command line does not have
 * @throws {ConfigError}
 */
export function configOf(command: Command, extraFlags: Readonly<Record<string, string>> = {}): Config {
  const flags: Record<string, string> = Object.assign(Object.create(null), extraFlags)
  for (const option of command.options) {
    const value: unknown = command.getOptionValue(option.attributeName())
    // A flag without its optional value is true.
    if (value !== undefined) flags[option.long!.slice(2)] = String(value)
  }
  return loadConfig({ file: flags.config, env: process.env, flags })
}

/** Adds the options that name a running server and a key. @param holder whose key it is, as the end of a sentence */
export const addServerOptions = (command: Command, holder = ''): Command =>
  addConfigOptions(command, key => /^server\.(host|port|basePath)$/.test(key))
    .option('--url <url>', 'address of the server; by default the server of the configuration on this machine')
    .addOption(new Option('--key <key>', `API key or token${holder}`).env('TESSER_KEY'))

/** Address of the server of {@link addServerOptions}, see `serverAddress`. */
export const serverOf = (command: Command): string => serverAddress(command.getOptionValue('url'), configOf(command))

/** Matches the keys of options that concern the store. */
export const ofStore = /^(model|data|storage\.|protocol\.|write\.)/
