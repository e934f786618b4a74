import type { Logger } from 'pino'
import type { Config } from '../../config/load-config.ts'
import { type DataClass, isRelation, type View } from '../../engine/index.ts'
import { isPretty } from '../log.ts'
import type { Server } from '../main.ts'

type AnnouncedServer = Pick<Server, 'url' | 'transport' | 'plugins' | 'engine'>

/**
 * Says that a server is ready, and at which addresses: to people in a few lines, otherwise in one line of the log.
 * @param hint last sentence for people
 */
export function announce(
  config: Config,
  server: AnnouncedServer,
  { log, print, hint }: { log: Logger; print: (text: string) => void; hint?: string },
): void {
  const { host } = config.server
  const base = `${server.url}${config.server.basePath}`
  const explorer = server.plugins.includes('explorer') ? `${base}/explorer/` : undefined
  if (isPretty(config.log)) print(greeting(config, { base, explorer, data: samplePaths(server) }, server, hint))
  else log.info({ url: server.url, explorer, host, transport: server.transport }, 'listening')
}

interface Addresses {
  readonly base: string
  readonly explorer: string | undefined
  /** Paths of data, after {@link base}. */
  readonly data: readonly string[]
}

function greeting(
  { demo }: Config,
  { base, explorer, data }: Addresses,
  { transport }: AnnouncedServer,
  hint?: string,
): string {
  const what = demo ? 'Tesser serves the demo' : 'Tesser is ready'
  const paths = explorer || data.length > 0 ? data : ['/rest/$catalog']
  const lines = [
    `${what} (${transport}). Press Ctrl+C to stop.${hint ? ` ${hint}` : ''}`,
    '',
    ...(explorer ? [`Explorer  ${explorer}`] : []),
    ...paths.map((path, i) => `${i === 0 ? 'Data      ' : '          '}${base}${path}`),
    '',
  ]
  if (demo) lines.push(OWN_DATA, '')
  return lines.join('\n')
}

const OWN_DATA = 'Your own data: npx tesser load FILE --new-class NAME, then npx tesser start --model model.json.'

/** Matches names that need no percent-encoding. */
const PLAIN = /^\w+$/

/**
 * Addresses that a client without a login may read, to try in a browser: of the dataclass with the most relations, and of what it refers
 * to. None if the client may read nothing.
 */
export function samplePaths({ engine, plugins }: Pick<Server, 'engine' | 'plugins'>): string[] {
  const view = engine.queries.view()
  const dataClass = engine.permissions.forceLogin ? undefined : mainClass(view)
  if (!dataClass) return []
  const { name } = dataClass
  const paths = [
    ['paging', `/rest/${name}?$top=5`],
    ['expand', expansion(dataClass, view)],
    ['catalog', `/rest/$catalog/${name}`],
  ] as const
  return paths.flatMap(([plugin, path]) => (path && plugins.includes(plugin) ? [path] : []))
}

function mainClass(view: View): DataClass | undefined {
  const count = (dataClass: DataClass): number => view.attributes(dataClass).filter(isRelation).length
  const classes = view.dataClasses.filter(({ name }) => PLAIN.test(name))
  return classes.reduce<DataClass | undefined>(
    (best, each) => (best && count(best) >= count(each) ? best : each),
    undefined,
  )
}

/** The first related entity or, without one, the first attribute in whose order entities can be shown. */
function expansion(dataClass: DataClass, view: View): string | undefined {
  const attributes = view.attributes(dataClass).filter(({ name }) => PLAIN.test(name))
  const relation = attributes.find(({ kind }) => kind === 'relatedEntity') ?? attributes.find(isRelation)
  return relation && `/rest/${dataClass.name}?$top=5&$expand=${relation.name}`
}
