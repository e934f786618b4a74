import { buildCatalog } from './build-catalog.ts'
import { checkModel } from './check-model.ts'
import type { Catalog, WireOptions } from './dataclass.ts'
import type { TableNumbers } from './table-numbers.ts'

/**
 * Checks a model file and builds its catalog ({@link buildCatalog}).
 * @throws {ModelError} with every problem of the model
 */
export const loadModel = (model: unknown, numbers?: TableNumbers, wire?: Pick<WireOptions, 'basePath'>): Catalog =>
  buildCatalog(checkModel(model), numbers, wire)
