import { writeFileSync } from 'node:fs'
import type { Config } from '../../config/load-config.ts'
import { type Catalog, type ClassRegistry, outputUrl, publicView, type View } from '../../engine/index.ts'
import { KERNEL_VERSION, type Registered } from '../api.ts'
import { describePlugins } from '../describe-plugins.ts'
import { modelOf } from './model-of.ts'

/** Module of the plugin `openapi`, loaded like every plugin. */
interface OpenApiModule {
  openApiDocument(options: {
    catalog: Catalog
    classes: ClassRegistry
    view: View
    mayCall: () => boolean
    isAdministrator: boolean
    registered: Registered
    version: string
    cookieName: string
  }): object
}

/**
 * `tesser openapi`: writes the OpenAPI document of the model and the classes of plugins, without restrictions.
 * @param file the standard output by default
 * @throws {ModelError} {@link PluginError} {@link DeclarationError}
 */
export async function openapi(config: Config, file: string | undefined): Promise<void> {
  const { catalog, classes, plugins } = await modelOf(config)
  const { registry, problems } = await describePlugins(plugins, { catalog, classes, configFolder: config.pathsFolder })
  for (const problem of problems) process.stderr.write(`${problem}\n`)
  const { openApiDocument } = (await import(outputUrl('plugins/openapi/index.js').href)) as OpenApiModule
  const document = openApiDocument({
    ...{ catalog, classes, view: publicView(catalog), mayCall: () => true, isAdministrator: true },
    registered: registry,
    version: KERNEL_VERSION,
    cookieName: config.session.cookieName,
  })
  const text = `${JSON.stringify(document, null, 2)}\n`
  if (file === undefined) process.stdout.write(text)
  else writeFileSync(file, text)
}
