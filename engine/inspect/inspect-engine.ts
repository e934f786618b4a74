import { addCalculated } from '../catalog/add-calculated.ts'
import { checkModel } from '../catalog/check-model.ts'
import { loadModel } from '../catalog/load-model.ts'
import type { EngineOptions } from '../engine-options.ts'
import { calculatedDeclarations } from '../hooks/hooked-classes.ts'
import { describeClasses } from '../open-engine.ts'
import { checkRoles } from '../permission/check-roles.ts'
import { inspectStore, problemsOf, type StoreProblem } from './inspect-store.ts'

/** Something wrong, and where. */
export type Problem = StoreProblem | { of: 'roles'; text: string }

/**
 * Everything wrong with a model, with a store in itself, and with the two and the roles together. Changes nothing. What
 * cannot be judged, because the model is wrong, is passed over.
 * @param roles content of `roles.json`; undefined: there is none
 * @throws {Error} naming plugin and module of classes that cannot be used
 */
export async function* inspectEngine(options: EngineOptions, roles?: unknown): AsyncGenerator<Problem> {
  const classes = await describeClasses(options)
  let model: unknown
  const problems = problemsOf(() => {
    model = checkModel(addCalculated(options.model, calculatedDeclarations(classes)))
  })
  for (const text of problems) yield { of: 'model', text }
  if (problems.length === 0 && roles !== undefined) {
    const subjects = { catalog: loadModel(model), classes }
    for (const text of problemsOf(() => checkRoles(roles, subjects))) yield { of: 'roles', text }
  }
  yield* inspectStore({ ...options, model })
}
