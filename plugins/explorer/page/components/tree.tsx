import { useState } from 'preact/hooks'
import { text } from './texts.ts'
import './tree.css'

interface TreeProps {
  readonly value: unknown
  /** Name of the value in its parent. */
  readonly name?: string
  /** Number of levels that are open at first. */
  readonly open?: number
}

const STEP = 100
const MAX_TEXT = 500

/** JSON as a tree that is opened level by level; closed levels cost nothing. */
export function Tree({ value, name, open = 1 }: TreeProps) {
  const [isOpen, setOpen] = useState(open > 0)
  if (typeof value !== 'object' || value === null) {
    return (
      <div class="tree">
        <Name name={name} />
        <Leaf value={value} />
      </div>
    )
  }
  const size = Array.isArray(value) ? value.length : Object.keys(value).length
  return (
    <details class="tree" open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <Name name={name} />
        <small>{Array.isArray(value) ? `[${size}]` : `{${size}}`}</small>
      </summary>
      {isOpen && <Members value={value} open={open - 1} />}
    </details>
  )
}

function Members({ value, open }: { readonly value: object; readonly open: number }) {
  const [limit, setLimit] = useState(STEP)
  const names = Object.keys(value)
  return (
    <ul>
      {names.slice(0, limit).map(name => (
        <li key={name}>
          <Tree name={name} value={(value as Record<string, unknown>)[name]} open={open} />
        </li>
      ))}
      {names.length > limit && (
        <li>
          <button type="button" onClick={() => setLimit(limit + STEP)}>
            {text('more', { count: names.length - limit })}
          </button>
        </li>
      )}
    </ul>
  )
}

const Name = ({ name }: { readonly name: string | undefined }) => (name === undefined ? null : <b>{name}</b>)

function Leaf({ value }: { readonly value: unknown }) {
  const [isWhole, setWhole] = useState(false)
  const json = value === undefined ? '' : JSON.stringify(value)
  const shownText = isWhole ? json : json.slice(0, MAX_TEXT)
  return (
    <>
      <code>{shownText}</code>
      {shownText.length < json.length && (
        <button type="button" class="quiet" onClick={() => setWhole(true)}>
          {text('more', { count: json.length - shownText.length })}
        </button>
      )}
    </>
  )
}
