import { type Command, Option } from 'commander'
import { type Config, loadConfig } from '../../config/load-config.ts'
import { CONFIG_KEYS, type ConfigKey, flagNames, optionOf } from '../../config/schema.ts'
import { CONFIGURATION, FIRST_KEYS, FIRST_OPTIONS, topicOf, WHICH_SERVER } from './help-groups.ts'
import { serverAddress } from './server-address.ts'

/** Adds `--config` and a flag for each option of the configuration whose key passes `filter`. */
export function addConfigOptions(command: Command, filter: (key: ConfigKey) => boolean): Command {
  command.addOption(configFile().helpGroup(CONFIGURATION))
  for (const key of CONFIG_KEYS.filter(filter)) addFlags(command, key, CONFIGURATION)
  return command
}

/** Adds `--config` and a flag for each option of the configuration: first those that most servers need, then the others by topic. */
export function addAllConfigOptions(command: Command): Command {
  command.addOption(configFile().helpGroup(FIRST_OPTIONS))
  for (const key of FIRST_KEYS) addFlags(command, key, FIRST_OPTIONS)
  for (const key of CONFIG_KEYS) if (!FIRST_KEYS.includes(key)) addFlags(command, key, topicOf(key))
  return command
}

const configFile = (): Option =>
  new Option('--config <file>', 'Config file; by default tesser.config.json, if it exists.')

function addFlags(command: Command, key: ConfigKey, group: string): void {
  const { doc, schema } = optionOf(key)
  const value =
    schema.type === 'boolean'
      ? '[true|false]'
      : schema.enum
        ? `<${schema.enum.join('|')}>`
        : `<${placeholder(schema.type)}>`
  const initial = schema.default === undefined || `${schema.default}` === '' ? '' : ` (${schema.default})`
  for (const [i, name] of flagNames(key).entries()) {
    const option = new Option(`--${name} ${value}`, doc.replaceAll('`', '') + initial).helpGroup(group)
    // The long name works too, but one line of help is enough.
    command.addOption(i > 0 ? option.hideHelp() : option)
  }
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
  addConfigOptions(
    addUrlOptions(command, {
      url: 'address of the server; by default the server of the configuration on this machine',
      key: `API key or token${holder}`,
    }),
    key => /^server\.(host|port|basePath)$/.test(key),
  )

/** Adds `--url` and `--key` with their descriptions. */
export const addUrlOptions = (command: Command, { url, key }: { url: string; key: string }): Command =>
  command
    .addOption(new Option('--url <url>', url).helpGroup(WHICH_SERVER))
    .addOption(new Option('--key <key>', key).env('TESSER_KEY').helpGroup(WHICH_SERVER))

/** Address of the server of {@link addServerOptions}, see `serverAddress`. */
export const serverOf = (command: Command): string => serverAddress(command.getOptionValue('url'), configOf(command))

/** Matches the keys of options that concern the store. */
export const ofStore = /^(model|data|storage\.|protocol\.|write\.)/
