import { writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import type { Config } from '../../config/load-config.ts'
import { type ClassRegistry, outputUrl, publicView, type View } from '../../engine/index.ts'
import { InputError } from '../../engine/base/input-error.ts'
import type { Registered } from '../api.ts'
import { describePlugins } from '../describe-plugins.ts'
import { ask } from './ask-server.ts'
import { modelOf } from './model-of.ts'
import { givenAddress } from './server-address.ts'

export interface ClientArguments {
  /** Path of the file; `-` for the standard output. */
  readonly out: string
  readonly url?: string
  readonly key?: string
  readonly dates: 'date' | 'text'
  readonly module: boolean
}

/**
 * `tesser client`: writes the file that `$client` answers with, from a running server or from the model and the plugins.
 * @param readConfig reads the configuration, which is not needed for a running server
 * @returns a line for the user; undefined if the file goes to the standard output
 * @throws {Error} the server cannot be reached; {@link InputError} it refuses, or its answer is not a client; {@link ModelError} {@link PluginError}
 */
export async function client(readConfig: () => Config, options: ClientArguments): Promise<string | undefined> {
  const text =
    options.url === undefined ? await fromModel(readConfig(), options) : await fromServer(options.url, options)
  if (options.out === '-') {
    // Not written with `print`, which hides secrets: a name in the model may equal one.
    process.stdout.write(text)
    return undefined
  }
  writeFileSync(options.out, text)
  return `${options.out} is written: import { createClient } from './${basename(options.out)}'`
}

/** Module of the plugin `client`, loaded like every plugin. */
interface ClientModule {
  clientText(
    modelSource: { view: View; classes: ClassRegistry; mayCall: () => boolean; registered: Registered },
    options: { source: string; dates: 'date' | 'text'; isModule: boolean },
  ): string
}

async function fromModel(config: Config, { dates, module: isModule }: ClientArguments): Promise<string> {
  const { catalog, classes, plugins } = await modelOf(config)
  const { registry: registrations, problems } = await describePlugins(plugins, {
    catalog,
    classes,
    configFolder: config.pathsFolder,
  })
  for (const problem of problems) process.stderr.write(`${problem}\n`)
  const { clientText } = (await import(outputUrl('plugins/client/index.js').href)) as ClientModule
  const modelSource = { view: publicView(catalog), classes, registered: registrations, mayCall: () => true }
  return clientText(modelSource, { source: basename(config.model), dates, isModule })
}

async function fromServer(url: string, { key, dates, module }: ClientArguments): Promise<string> {
  const address = new URL(`${givenAddress(url)}/rest/$client?$dates=${dates}${module ? '&$module=true' : ''}`)
  const text = await (await ask(address, { key })).text()
  if (!text.startsWith('/* eslint-disable */')) {
    throw new InputError(`${address} did not return a client; is it the address of a Tesser server?`)
  }
  return text
}
