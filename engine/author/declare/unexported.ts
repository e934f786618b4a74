import type { AuthorClass } from './describe-classes.ts'
import { metadataOf } from './members.ts'
import { marksOf, type ModuleDeclarations } from './module-declarations.ts'

/** A module that has been imported, and the classes that it exports. */
interface ImportedModule {
  readonly declarations: ModuleDeclarations
  readonly exported: readonly AuthorClass[]
}

/**
 * Classes that modules declare and do not export, so that no code of them would ever run. A file that two modules import is
 * bundled with each of them; it is enough that one of them exports its class.
 * @returns one sentence each
 */
export function unexportedProblems(modules: readonly ImportedModule[]): string[] {
  const marks = new Set(modules.flatMap(({ exported }) => exported.flatMap(each => marksOf(each, metadataOf(each)))))
  const exportedPlaces = new Set(modules.flatMap(({ declarations }) => declarations.exportedPlaces(marks)))
  const problems = modules.flatMap(({ declarations }) =>
    declarations
      .unexported(marks)
      .filter(({ place }) => place === undefined || !exportedPlaces.has(place))
      .map(({ base, place }) => {
        const where = `plugin ${declarations.plugin}${place === undefined ? '' : `, ${place}`}`
        return base === undefined
          ? `${where}: a class with decorators extends none of DataClass(…), Entity(…), EntitySelection(…), DataStore, Singleton`
          : `${where}: a class that extends ${base} is not exported, so that nothing of it would ever run; write "export class"`
      }),
  )
  return [...new Set(problems)]
}
