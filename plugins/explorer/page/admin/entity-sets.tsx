import { linkTo } from '../base/place.ts'
import { entitySetPath } from '../base/paths.ts'
import { ask } from '../base/rest.ts'
import { number } from '../base/texts.ts'
import { time } from '../base/amounts.ts'
import { List } from './list.tsx'
import { Part } from './part.tsx'
import { text } from './texts.ts'

interface EntitySetInfo {
  readonly id: string
  readonly dataClass: string
  readonly selectionSize: number
  readonly sorted: boolean
  readonly refreshed: string
  readonly expires: string
}

interface Answer {
  readonly entitySetCount: number
  readonly entitySet: readonly EntitySetInfo[]
}

async function release({ dataClass, id }: EntitySetInfo): Promise<string> {
  await ask(entitySetPath(dataClass, id), { $method: 'release' }, { method: 'POST' })
  return text('setReleased')
}

export function EntitySets() {
  return (
    <Part<Answer> path="$info/entitySet">
      {({ entitySetCount, entitySet }, act) => (
        <List
          title={text('entitySets')}
          rows={entitySet}
          count={entitySetCount}
          idOf={({ id }) => id}
          searched={({ id, dataClass }) => `${dataClass} ${id}`}
          columns={[
            { title: text('dataClass'), show: ({ dataClass }) => dataClass },
            {
              title: text('set'),
              show: ({ dataClass, id }) => (
                <a href={linkTo([dataClass], { set: id })}>
                  <code>{id}</code>
                </a>
              ),
            },
            { title: text('entities'), show: ({ selectionSize }) => number(selectionSize), isNumber: true },
            { title: text('sorted'), show: ({ sorted }) => (sorted ? text('yes') : '') },
            { title: text('used'), show: ({ refreshed }) => time(refreshed) },
            { title: text('expires'), show: ({ expires }) => time(expires) },
            {
              title: text('action'),
              show: set => (
                <button type="button" onClick={() => act(() => release(set))}>
                  {text('release')}
                </button>
              ),
            },
          ]}
        />
      )}
    </Part>
  )
}
