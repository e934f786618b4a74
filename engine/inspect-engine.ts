import { addCalculated } from './catalog/add-calculated.ts'
import { checkModel } from './catalog/check-model.ts'
import { loadModel } from './catalog/load-model.ts'
import type { EngineOptions } from './engine-options.ts'
import { declarationProblems } from './author/declare/check-declarations.ts'
import { calculatedDeclarations } from './author/hooks/hooked-classes.ts'
import { describeClasses } from './open-engine.ts'
import { checkRoles } from './permission/check-roles.ts'
import { roleWarnings } from './permission/role-warnings.ts'
import { connectionProblems, inspectDatabases } from './postgres/tables/inspect-databases.ts'
import { type InspectOptions, inspectStore, problemsOf, type StoreProblem } from './storage/inspect/inspect-store.ts'

/** A problem, with the part that has it. */
type Problem = StoreProblem | { of: 'roles' | 'plugins' | 'databases'; text: string }

interface InspectEngineOptions extends EngineOptions, Pick<InspectOptions, 'mustExist' | 'onPlan' | 'onCheckProgress'> {
  /** Called with what valid roles allow by default, which may not be meant. */
  onRoleWarning?: (text: string) => void
}

/**
 * Finds all problems of a model, of plugin classes, of a store in itself, of tables in databases, and of their combination and the roles.
 * Changes nothing.
 * Checks that need a valid model are skipped if it is not.
 * @param roles content of `roles.json`; undefined: there is none
 * @throws {Error} with the plugin and the module whose classes cannot be used
 */
export async function* inspectEngine(options: InspectEngineOptions, roles?: unknown): AsyncGenerator<Problem> {
  const loadedClasses = await describeClasses(options)
  const { classes } = loadedClasses
  let model: unknown
  const problems = problemsOf(() => {
    model = checkModel(addCalculated(options.model, calculatedDeclarations(classes)))
  })
  for (const text of problems) yield { of: 'model', text }
  const pluginProblems = problems.length === 0 ? await declarationProblems(classes, loadModel(model)) : []
  for (const text of [...loadedClasses.problems, ...pluginProblems]) yield { of: 'plugins', text }
  if (problems.length === 0 && roles !== undefined) {
    const subjects = { catalog: loadModel(model), classes }
    const roleProblems = problemsOf(() => {
      const warnings = roleWarnings(checkRoles(roles, subjects), subjects)
      for (const text of warnings) options.onRoleWarning?.(text)
    })
    for (const text of roleProblems) yield { of: 'roles', text }
  }
  if (problems.length === 0) {
    const catalog = loadModel(model)
    const { connections = {} } = options
    const onPlan = (text: string) => options.onPlan?.(text, 'databases')
    const unknown = connectionProblems(catalog, connections)
    for (const text of unknown) yield { of: 'model', text }
    if (unknown.length === 0)
      for await (const text of inspectDatabases(catalog, connections, onPlan)) yield { of: 'databases', text }
  }
  yield* inspectStore({ ...options, model })
}
