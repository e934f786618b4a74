import type { Config } from './load-config.ts'
import { CONFIG_KEYS, optionOf } from './schema.ts'

const HIDDEN = '(hidden)'
const SECRETS = new Set(CONFIG_KEYS.filter(key => optionOf(key).secret).map(key => key.slice(key.lastIndexOf('.') + 1)))
/** Usual names of secrets: plugins are not loaded here, and their schemas do not mark secrets. */
const SECRET_NAME =
  /pass(word|phrase|wd|code)?$|secret|credential|token$|(api|access|private|signing)[-_]?key$|authorization$/i
const URL_PASSWORD = /^([a-z][a-z0-9+.-]*:\/\/)[^/@\s]*@/i

/** The configuration in the form of its file, complete, with secrets hidden, also in the options of plugins. */
export function printConfig({ file: _, folder: __, pathsFolder: ___, demo: ____, plugins, ...values }: Config): string {
  const shown = {
    ...values,
    plugins: plugins.map(({ specifier, options }) =>
      options ? { plugin: specifier, options: JSON.parse(JSON.stringify(options, withoutSecrets)) } : specifier,
    ),
  }
  return JSON.stringify(shown, (name, value) => (SECRETS.has(name) ? HIDDEN : value), 2)
}

function withoutSecrets(name: string, value: unknown): unknown {
  const isSecret = SECRET_NAME.test(name) && typeof value !== 'boolean' && typeof value !== 'number'
  if (isSecret) return HIDDEN
  return typeof value === 'string' ? value.replace(URL_PASSWORD, `$1${HIDDEN}@`) : value
}
