import { bindProjection } from '../query/serialise/bind-projection.ts'
import { planSelection } from '../query/source/select.ts'
import { costOfFinding } from '../query/tasks/row-ids-task.ts'
import { searchesOf, type TaskKind } from '../query/tasks/task-kind.ts'
import { encodeMembers } from './members.ts'

/** A whole selection as members of an entity set, in the form of `encodeMembers`. The output is checked, but not used. */
export const membersTask: TaskKind = {
  isInner: true,
  plan(request, _args, { views, layouts, limits, queries }, context) {
    const view = views.of(request.access)
    const selection = planSelection(request, view, queries, context)
    bindProjection(selection.dataClass, request.output, view, layouts, limits, selection.score)
    return {
      searches: searchesOf(selection),
      cost: () => costOfFinding(selection, view, context),
      run: () => encodeMembers(selection.finder.members(selection, view, context, layouts)),
    }
  },
}
