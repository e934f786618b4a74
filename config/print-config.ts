import type { Config } from './load-config.ts'
import { HIDDEN } from '../engine/base/known-secrets.ts'
import { isReference } from './reference.ts'
import { withoutSecrets } from './secrets.ts'
import { CONFIG_KEYS, optionOf } from './schema.ts'

const SECRETS = new Set(CONFIG_KEYS.filter(key => optionOf(key).secret).map(key => key.slice(key.lastIndexOf('.') + 1)))

/** True for a value that is shown unchanged: a reference or a list of references. */
const isReferenced = (value: unknown): boolean =>
  isReference(value) || (Array.isArray(value) && value.length > 0 && value.every(isReference))

/**
 * The configuration in the form of its file, complete, with secrets hidden, including those in options of plugins. References in those
 * options are shown unresolved.
 */
export function printConfig({
  file: _,
  folder: __,
  pathsFolder: ___,
  demo: ____,
  connections,
  plugins,
  ...values
}: Config): string {
  const output = {
    ...values,
    connections: withoutSecrets(connections, undefined, isReferenced),
    plugins: plugins.map(({ specifier, options, granted }) =>
      options || granted
        ? {
            plugin: specifier,
            ...(options && { options: withoutSecrets(options, undefined, isReferenced) as object }),
            ...granted,
          }
        : specifier,
    ),
  }
  return JSON.stringify(output, (name, value) => (SECRETS.has(name) ? HIDDEN : value), 2)
}
