import { CONFIG_KEYS, environmentNames, flagNames, optionOf } from '../../../config/schema.ts'
import { code, table } from './tables.ts'

/** Table of the options of the configuration. */
export const optionTable = (): string =>
  table(
    ['option', 'default', 'flag', 'environment', 'meaning'],
    CONFIG_KEYS.map(key => {
      const { schema, default: usual, doc } = optionOf(key)
      const value = schema.default ?? (JSON.stringify(usual) === '{}' ? '' : usual)
      const text = Array.isArray(value) ? value.join(',') : String(value ?? '')
      const flags = flagNames(key).map(flag => code(`--${flag}`))
      const variables = environmentNames(key).map(code)
      return [code(key), text && code(text), flags.join(' '), variables.join(' '), doc]
    }),
  )
