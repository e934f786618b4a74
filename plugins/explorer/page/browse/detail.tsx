import { type Attribute, type DataClass, shapeOf } from '../base/catalog.ts'
import { format } from '../base/format.ts'
import { entityPath } from '../base/paths.ts'
import { ask } from '../base/rest.ts'
import { number } from '../base/texts.ts'
import { Dialog } from '../components/dialog.tsx'
import { Fault } from '../components/fault.tsx'
import { Scroller } from '../components/scroller.tsx'
import { Sparkline } from '../components/sparkline.tsx'
import { Tree } from '../components/tree.tsx'
import { useAnswer } from '../components/use-answer.ts'
import { type Column, valuesAt } from './columns.ts'
import type { Entity } from './rows.ts'
import { text } from './texts.ts'
import './detail.css'

/** Maximum characters of a shown text. */
const MAX_TEXT = 100_000

interface DetailProps {
  readonly dataClass: DataClass
  readonly entityKey: string
  readonly column: Column
  readonly onClose: () => void
}

/** The whole value of one cell. */
export function Detail({ dataClass, entityKey, column: { path, attribute }, onClose }: DetailProps) {
  const { result, error, again } = useAnswer(
    signal => ask<Entity>(entityPath(dataClass.name, entityKey), { $attributes: path }, { signal }),
    [dataClass, entityKey, path],
  )
  return (
    <Dialog title={path} onClose={onClose}>
      {error !== undefined && <Fault error={error} again={again} />}
      {!result && error === undefined && <p role="status">{text('loading')}</p>}
      {result && (
        <Scroller label={path}>
          <div class="detail">
            {valuesAt(result, path).map((value, at) => (
              <Whole key={at} value={value} attribute={attribute} />
            ))}
          </div>
        </Scroller>
      )}
    </Dialog>
  )
}

function Whole({ value, attribute }: { readonly value: unknown; readonly attribute: Attribute }) {
  if (value == null) return <p class="hint">null</p>
  switch (shapeOf(attribute)) {
    case 'object':
      return <Tree value={value} open={2} />
    case 'vector': {
      const elements = value as number[]
      return (
        <>
          <Sparkline values={elements} width={520} height={90} label={number(elements.length)} />
          <p>{text('elements', { count: elements.length })}</p>
          <code>{elements.join(', ')}</code>
        </>
      )
    }
    default: {
      const fullText = format(value, attribute)
      return (
        <>
          <p class="text">{fullText.slice(0, MAX_TEXT)}</p>
          {fullText.length > MAX_TEXT && <p class="hint">{text('cut', { shown: MAX_TEXT, count: fullText.length })}</p>}
        </>
      )
    }
  }
}
