import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { type DataClass, isRelation, targetOf } from '../base/catalog.ts'
import { change } from '../base/place.ts'
import { selection } from '../base/selection.ts'
import { Dialog } from '../components/dialog.tsx'
import { type Column, columnOf } from './columns.ts'
import { moveColumn, setColumns } from './header-actions.ts'
import { text } from './texts.ts'
import './columns-dialog.css'

interface ColumnsDialogProps {
  readonly columns: readonly Column[]
  readonly onClose: () => void
}

/** Dialog for choosing columns: the shown ones in their order, and the attributes of the dataclass and of related ones. */
export function ColumnsDialog({ columns, onClose }: ColumnsDialogProps) {
  const { dataClass } = selection.value!
  const searchText = useSignal('')
  const paths = new Set(columns.map(({ path }) => path))
  const toggle = (path: string): void => {
    const column = columnOf(path, dataClass, targetOf)
    if (paths.has(path)) setColumns(columns.filter(each => each.path !== path))
    else if (column) setColumns([...columns, column])
  }
  return (
    <Dialog title={text('columns')} onClose={onClose}>
      <div class="choose-columns">
        <div>
          <p class="hint">{text('columnsHint')}</p>
          <ol>
            {columns.map(({ path }, at) => (
              <li key={path}>
                <span>{path}</span>
                <button
                  type="button"
                  class="quiet"
                  disabled={at === 0}
                  aria-label={text('left', { name: path })}
                  onClick={() => moveColumn(columns, at, at - 1)}
                >
                  ↑
                </button>
                <button
                  type="button"
                  class="quiet"
                  disabled={at === columns.length - 1}
                  aria-label={text('right', { name: path })}
                  onClick={() => moveColumn(columns, at, at + 1)}
                >
                  ↓
                </button>
                <button
                  type="button"
                  class="quiet"
                  disabled={columns.length === 1}
                  aria-label={text('remove', { name: path })}
                  onClick={() => toggle(path)}
                >
                  ×
                </button>
              </li>
            ))}
          </ol>
          <button type="button" onClick={() => change({ columns: undefined }, { replace: true })}>
            {text('reset')}
          </button>
        </div>
        <div>
          <input
            type="search"
            aria-label={text('findAttribute')}
            placeholder={text('findAttribute')}
            value={searchText}
            onInput={({ currentTarget }) => {
              searchText.value = currentTarget.value
            }}
          />
          <Attributes
            dataClass={dataClass}
            prefix=""
            paths={paths}
            searchText={searchText.value.toLowerCase()}
            onToggle={toggle}
          />
        </div>
      </div>
    </Dialog>
  )
}

interface AttributesProps {
  readonly dataClass: DataClass
  /** Path of relations to the dataclass, with a dot after each. */
  readonly prefix: string
  readonly paths: ReadonlySet<string>
  readonly searchText: string
  readonly onToggle: (path: string) => void
}

/** Attributes of a dataclass; relations can be opened to show those of their target. */
function Attributes({ dataClass, prefix, paths, searchText, onToggle }: AttributesProps) {
  const attributes = dataClass.attributes.filter(each => prefix !== '' || each.name.toLowerCase().includes(searchText))
  return (
    <ul>
      {attributes.map(attribute => {
        const path = `${prefix}${attribute.name}`
        const target = isRelation(attribute) ? targetOf(attribute) : undefined
        return (
          <li key={path}>
            <label>
              <input type="checkbox" checked={paths.has(path)} onChange={() => onToggle(path)} />
              {attribute.name} <small>{target?.name ?? attribute.type}</small>
            </label>
            {target && (
              <Branch name={path}>
                {() => (
                  <Attributes
                    dataClass={target}
                    prefix={`${path}.`}
                    paths={paths}
                    searchText={searchText}
                    onToggle={onToggle}
                  />
                )}
              </Branch>
            )}
          </li>
        )
      })}
    </ul>
  )
}

/** A branch that is rendered only when it is opened, since relations can form cycles. */
function Branch({ name, children }: { readonly name: string; readonly children: () => ComponentChildren }) {
  const isOpen = useSignal(false)
  return (
    <details
      onToggle={({ currentTarget }) => {
        isOpen.value = currentTarget.open
      }}
    >
      <summary>{name}…</summary>
      {isOpen.value && children()}
    </details>
  )
}
