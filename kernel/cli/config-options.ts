import { type Command, Option } from 'commander'
import { type Config, loadConfig } from '../../config/load-config.ts'
import { CONFIG_KEYS, type ConfigKey, flagNames, optionOf } from '../../config/schema.ts'

/** Adds `--config` and a flag for each option of the configuration whose key passes `filter`. */
export function addConfigOptions(command: Command, filter: (key: ConfigKey) => boolean = () => true): Command {
  command.addOption(
    new Option('--config <file>', 'Config file; tesser.config.json by default, if there is one.').helpGroup(
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
 * @param others values of flags that the command line does not have
 * @throws {ConfigError}
 */
export function configOf(command: Command, others: Readonly<Record<string, string>> = {}): Config {
  const flags: Record<string, string> = Object.assign(Object.create(null), others)
  for (const option of command.options) {
    const value: unknown = command.getOptionValue(option.attributeName())
    // A flag without its optional value is true.
    if (value !== undefined) flags[option.long!.slice(2)] = String(value)
  }
  return loadConfig({ file: flags.config, env: process.env, flags })
}

/** Tells the options of the store among all. */
export const ofStore = /^(model|data|storage\.|protocol\.|write\.)/
