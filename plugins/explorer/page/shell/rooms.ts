/** Views of this page. Each has its own folder, and all but the grid are loaded when they are first shown. */
import type { ComponentType } from 'preact'
import { catalog } from '../base/catalog.ts'
import { selection } from '../base/selection.ts'
import { Grid } from '../browse/grid.tsx'
import { CopyAs } from '../components/copy-as.tsx'
import { EntityActions } from '../entity/actions.tsx'
import { FindBar } from '../find/find-bar.tsx'
import { isAdministrator } from '../base/session.ts'
import { ImportAction } from '../transfer/import-action.tsx'
import { lazy } from './lazy.tsx'
import type { text } from './texts.ts'

interface Room {
  /** Name in addresses. */
  readonly path: string
  readonly title: Parameters<typeof text>[0]
  readonly View: ComponentType
  /** Returns true if there is something to show; by default always. */
  readonly isShown?: () => boolean
}

export const isShown = ({ isShown }: Room): boolean => isShown?.() ?? true

/** Views of the selection, `#/City?tab=chart`; the first is shown without `tab`. */
export const TABS: readonly Room[] = [
  { path: 'grid', title: 'grid', View: Grid },
  { path: 'chart', title: 'chart', View: lazy(async () => (await import('../look/chart.tsx')).Chart) },
  { path: 'plan', title: 'plan', View: lazy(async () => (await import('../plan/plan.tsx')).Plan) },
  {
    path: 'call',
    title: 'functions',
    View: lazy(async () => (await import('../call/call-tab.tsx')).CallTab),
    isShown: () => selection.value?.dataClass.methods !== undefined,
  },
]

/** Parts above the tabs of a dataclass: the filter. */
export const ABOVE_TABS: readonly ComponentType[] = [FindBar]

/** Actions in the title of a dataclass. */
export const IN_TITLE: readonly ComponentType[] = [CopyAs, ImportAction, EntityActions]

/** Parts to the right of the tab while the address names an entity, `#/City?entity=12`, or a new one, `#/City?edit=new`. */
export const BESIDE_TAB: readonly ComponentType[] = [
  lazy(async () => (await import('../entity/entity-panel.tsx')).EntityPanel),
]

/** Pages other than those of dataclasses: `#/$model`. Names of dataclasses have no `$`. */
export const PAGES: readonly Room[] = [
  { path: '$model', title: 'model', View: lazy(async () => (await import('../model/model-page.tsx')).ModelPage) },
  {
    path: '$call',
    title: 'functions',
    View: lazy(async () => (await import('../call/call-page.tsx')).CallPage),
    isShown: () => (catalog.value?.methods ?? catalog.value?.singletons) !== undefined,
  },
  {
    path: '$admin',
    title: 'administration',
    View: lazy(async () => (await import('../admin/admin-page.tsx')).AdminPage),
    isShown: () => isAdministrator.value,
  },
]
