import type { Logger } from 'pino'
import type { Metric } from '../../engine/base/counts/metric.ts'

/** Called each time that metrics are requested. Returns few series, whatever clients send. */
export type ReadMetrics = () => readonly Metric[] | Promise<readonly Metric[]>

/** Metrics of the server: of the kernel, of the engine and of plugins. */
export interface Metrics {
  /** Adds metrics of the plugin. Their names begin with the plugin's, `acme_orders_total`; `tesser_` is reserved for the server. */
  add(read: ReadMetrics): void
  /** Current values of all metrics. */
  read(): Promise<readonly Metric[]>
}

/** Valid name of a metric. Source: Prometheus, "Metric names and labels". */
const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/

/** Sources of metrics in the order in which they were added. */
export class MetricSources {
  private readonly sources: { readonly plugin: string | undefined; readonly read: ReadMetrics }[] = []
  /** Problems that have been logged. */
  private readonly reported = new Set<string>()

  constructor(private readonly log: Logger) {}

  /** @param plugin undefined for the server itself */
  add(plugin: string | undefined, read: ReadMetrics): void {
    this.sources.push({ plugin, read })
  }

  /** Reads all sources. A source that fails, or returns unusable metrics, does not affect the others. */
  async read(): Promise<readonly Metric[]> {
    const readings = await Promise.all(this.sources.map(source => this.readSource(source)))
    const takenNames = new Set<string>()
    return readings.flatMap(({ plugin, metrics }) =>
      metrics.filter(({ name }) => {
        const isFree = !takenNames.has(name) && (plugin === undefined || !name.startsWith('tesser_'))
        if (isFree && NAME.test(name)) return takenNames.add(name)
        const problem = isFree ? 'cannot be the name of a metric' : 'is the name of another metric'
        this.report(plugin, `${JSON.stringify(name)} ${problem}`)
        return false
      }),
    )
  }

  private async readSource({ plugin, read }: (typeof this.sources)[number]) {
    try {
      return { plugin, metrics: await read() }
    } catch (error) {
      this.report(plugin, 'metrics cannot be read', error)
      return { plugin, metrics: [] }
    }
  }

  /** Logs a problem once: metrics are requested every few seconds. */
  private report(plugin: string | undefined, problem: string, error?: unknown): void {
    const text = plugin === undefined ? problem : `plugin ${plugin}: ${problem}`
    if (this.reported.has(text)) return
    this.reported.add(text)
    this.log.error({ plugin, err: error }, text)
  }
}
