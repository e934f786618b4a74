import { mkdirSync } from 'node:fs'
import { addCalculated } from './catalog/add-calculated.ts'
import { Engine } from './engine.ts'
import { type EngineOptions, FUNCTIONS } from './engine-options.ts'
import { ClassRegistry } from './functions/class-registry.ts'
import { FunctionPool } from './functions/function-pool.ts'
import { calculatedDeclarations } from './hooks/hooked-classes.ts'
import type { ClassDescriptor } from './language/describe-classes.ts'
import { createSharedMemory } from './memory/shared-heap.ts'
import { WriterClient } from './write/writer-client.ts'

/**
 * Opens a store, after the writer thread has brought it to the given model.
 * @throws {ModelError} the model is wrong; {@link MigrationError} it does not fit the data; {@link StoreError}
 */
export async function openEngine(options: EngineOptions): Promise<Engine> {
  mkdirSync(options.path, { recursive: true })
  const memory = createSharedMemory(options.memoryBytes ?? 0, options.onNote)
  const functions = startFunctions(options)
  try {
    const classes = await functions?.describe()
    const model = addCalculated(options.model, calculatedDeclarations(classes ?? []))
    const whole = { ...options, model }
    const writer = await WriterClient.start({ ...whole, memory, maxWaitingBytes: options.writeQueueBytes })
    try {
      const engine = new Engine(whole, writer, memory, new ClassRegistry(classes), functions)
      await engine.prepare()
      return engine
    } catch (error) {
      await writer.close()
      throw error
    }
  } catch (error) {
    await functions?.close()
    throw error
  }
}

/** Loads the classes of authors and lets go of them. @throws {Error} naming plugin and module that cannot be used */
export async function describeClasses(options: EngineOptions): Promise<readonly ClassDescriptor[]> {
  const functions = startFunctions(options)
  try {
    return (await functions?.describe()) ?? []
  } finally {
    await functions?.close()
  }
}

function startFunctions({
  functions,
  model,
  now,
  onInternalError = () => {},
}: EngineOptions): FunctionPool | undefined {
  if (!functions || functions.modules.length === 0) return undefined
  const { dataClasses } = (model ?? {}) as { dataClasses?: unknown }
  const names = typeof dataClasses === 'object' && dataClasses !== null ? Object.keys(dataClasses) : undefined
  return new FunctionPool({ ...FUNCTIONS, dataClasses: names, ...functions }, onInternalError, now)
}
