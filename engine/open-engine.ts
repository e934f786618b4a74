import { SharedCounts, type ThreadCounts } from './base/counts/thread-counts.ts'
import { addCalculated } from './catalog/add-calculated.ts'
import { addPlaces } from './catalog/add-places.ts'
import type { Catalog } from './catalog/dataclass.ts'
import { loadModel } from './catalog/load-model.ts'
import { Engine } from './engine.ts'
import { openParts } from './engine-parts.ts'
import { type EngineOptions, FUNCTIONS } from './engine-options.ts'
import { codeLog } from './author/run/code-log.ts'
import { ClassRegistry } from './author/declare/class-registry.ts'
import { FunctionClient } from './author/run/function-client.ts'
import type { LoadedClasses } from './author/declare/describe-classes.ts'
import { checkDeclarations } from './author/declare/check-declarations.ts'
import { calculatedDeclarations } from './author/hooks/hooked-classes.ts'
import { createSharedMemory } from './memory/heap/shared-heap.ts'
import { WriterClient } from './write/client/writer-client.ts'

/**
 * Opens a store after the writer thread has migrated it to the given model.
 * @throws {ModelError} the model is invalid; {@link DeclarationError} the plugin classes are invalid; {@link MigrationError} the
 * model does not fit the data; {@link StoreError}
 */
export async function openEngine(options: EngineOptions): Promise<Engine> {
  if (options.backends?.length && options.functions?.modules.length)
    throw new Error(
      'plugin classes cannot be used together with the option backends: function threads have no access to those back ends',
    )
  const memory = createSharedMemory(options.memoryBytes ?? 0, options.onNote)
  const counts = new SharedCounts()
  const ownCounts = counts.claim('kernel')
  const code = startFunctions(options, ownCounts)
  try {
    const loadedClasses = await code?.describe()
    const classes = loadedClasses?.classes
    const calculatedModel = addCalculated(options.model, calculatedDeclarations(classes ?? []))
    const model = addPlaces(calculatedModel, options.backends ?? [])
    if (loadedClasses) await checkDeclarations(loadedClasses, loadModel(model))
    const withModel = { ...options, model }
    const writer = await WriterClient.start({
      ...withModel,
      memory,
      maxWaitingBytes: options.writeQueueBytes,
      counts: { shared: counts, own: ownCounts },
    })
    try {
      const registry = new ClassRegistry(classes, loadedClasses?.functions)
      const threads = { writer, memory, classes: registry, code, counts, ownCounts }
      const engine = new Engine(openParts(withModel, threads))
      await engine.prepare()
      return engine
    } catch (error) {
      await writer.close()
      throw error
    }
  } catch (error) {
    await code?.close()
    throw error
  }
}

/**
 * Loads and describes plugin classes, in a temporary thread. @throws {Error} with plugin and module that cannot be used
 */
export async function describeClasses(options: EngineOptions): Promise<LoadedClasses> {
  const code = startFunctions(options)
  try {
    return (await code?.describe()) ?? { classes: [], functions: [], problems: [] }
  } finally {
    await code?.close()
  }
}

/**
 * The model with the additions of plugin classes, and their functions, without a store. Their `configure` is not called: declarations
 * do not depend on it, and it may need secrets.
 * @throws {ModelError} {@link DeclarationError}; {@link Error} with the plugin and the module that cannot be used
 */
export async function describeModel(options: EngineOptions): Promise<{ catalog: Catalog; classes: ClassRegistry }> {
  const { functions } = options
  const modules = functions?.modules.map(module => ({ ...module, settings: undefined }))
  const loadedClasses = await describeClasses({ ...options, functions: modules && { ...functions, modules } })
  const calculatedModel = addCalculated(options.model, calculatedDeclarations(loadedClasses.classes))
  const model = addPlaces(calculatedModel, options.backends ?? [])
  const catalog = loadModel(model, undefined, options.wire)
  await checkDeclarations(loadedClasses, catalog)
  return { catalog, classes: new ClassRegistry(loadedClasses.classes, loadedClasses.functions) }
}

function startFunctions(
  { functions, tasks = [], model, now, ...options }: EngineOptions,
  counts?: ThreadCounts,
): FunctionClient | undefined {
  if (!functions || functions.modules.length === 0) return undefined
  const { dataClasses } = (model ?? {}) as { dataClasses?: unknown }
  const names = typeof dataClasses === 'object' && dataClasses !== null ? Object.keys(dataClasses) : undefined
  return new FunctionClient({ ...FUNCTIONS, tasks, dataClasses: names, ...functions }, codeLog(options), now, counts)
}
