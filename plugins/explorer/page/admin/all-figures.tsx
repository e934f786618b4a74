import { number } from '../base/texts.ts'
import { bytes } from '../base/amounts.ts'
import { List } from './list.tsx'
import { Part } from './part.tsx'
import { text } from './texts.ts'

interface Metric {
  readonly name: string
  readonly help: string
  readonly type: string
  readonly values: readonly { readonly value: number; readonly labels: Readonly<Record<string, string | number>> }[]
}

interface Row {
  readonly name: string
  readonly help: string
  readonly labels: string
  readonly value: string
}

/** All metrics of the server except distributions: memory, caches, queues, disk, threads. */
export function AllFigures() {
  return (
    <Part<{ metrics: readonly Metric[] }> path="$info/metrics">
      {({ metrics }) => (
        <List
          title={text('figures')}
          rows={metrics.filter(({ type }) => type !== 'histogram').flatMap(rowsOf)}
          idOf={({ name, labels }) => `${name} ${labels}`}
          searched={({ name, help, labels }) => `${name} ${help} ${labels}`}
          columns={[
            { title: text('figure'), show: ({ name, help }) => <span title={help}>{name}</span> },
            { title: text('labels'), show: ({ labels }) => labels },
            { title: text('value'), show: ({ value }) => value, isNumber: true },
          ]}
        />
      )}
    </Part>
  )
}

const rowsOf = ({ name, help, values }: Metric): Row[] =>
  values.map(({ labels, value }) => ({
    name: name.replace(/^tesser_/, ''),
    help,
    labels: Object.entries(labels)
      .map(([label, value]) => `${label}=${value}`)
      .join(' '),
    value: name.includes('bytes') ? bytes(value) : number(value, { maximumFractionDigits: 3 }),
  }))
