import { decode } from './url/characters.ts'
import { shorten, UrlErrors } from './url/url-errors.ts'

/** Values of the parameters in the path of a route, by name. */
export type PathParameters = Readonly<Record<string, string>>

interface Leaf<T> {
  readonly route: T
  readonly names: readonly string[]
}

interface Node<T> {
  readonly exact: Map<string, Node<T>>
  /** Node below a parameter. */
  parameter?: Node<T>
  /** Route that ends here. */
  leaf?: Leaf<T>
  /** Route that takes all further segments. */
  rest?: Leaf<T>
}

export interface Matched<T> extends Leaf<T> {
  /** Segments of the path for the names, as received. */
  readonly values: readonly string[]
}

const NAME = /^[A-Za-z_]\w*$/

/** True if a path of a route has parameters: `/hooks/:source`, `/files/*path`. */
export const hasParameters = (path: string): boolean => path.split('/').some(isParameter)

const isParameter = (segment: string): boolean => segment.startsWith(':') || segment.startsWith('*')

/**
 * Shape of a path, without the names of its parameters: two routes of the same shape match the same addresses.
 * @throws {Error} the path cannot be used
 */
export function shapeOf(path: string): string {
  const segments = path.split('/')
  const names = segments.filter(isParameter).map(segment => segment.slice(1))
  const wrong = names.find(name => !NAME.test(name))
  if (wrong !== undefined) {
    throw new Error(
      `the route ${path} has a parameter without a usable name: write it as :name or *name, with letters and digits`,
    )
  }
  if (new Set(names).size < names.length) throw new Error(`the route ${path} has two parameters of one name`)
  if (segments.slice(0, -1).some(segment => segment.startsWith('*'))) {
    throw new Error(`the route ${path} has a segment behind a *name, which takes the rest of the address`)
  }
  return segments.map(segment => (isParameter(segment) ? segment[0] : segment)).join('/')
}

/** Routes whose paths have parameters. An exact segment comes before a parameter, a parameter before the rest of an address. */
export class RouteTable<T extends { readonly path: string }> {
  readonly #root: Node<T> = { exact: new Map() }

  constructor(routes: Iterable<T>) {
    for (const route of routes) this.#add(route)
  }

  #add(route: T): void {
    const segments = route.path.split('/').slice(1)
    const leaf: Leaf<T> = { route, names: segments.filter(isParameter).map(segment => segment.slice(1)) }
    let node = this.#root
    for (const segment of segments) {
      if (segment.startsWith('*')) {
        node.rest = leaf
        return
      }
      node = segment.startsWith(':') ? belowParameter(node) : below(node, segment)
    }
    node.leaf = leaf
  }

  /** The route of a raw path. Visits every node at most once, so that no address is expensive. */
  find(path: string): Matched<T> | undefined {
    const { exact, parameter, rest } = this.#root
    if (exact.size === 0 && !parameter && !rest) return undefined
    return find(this.#root, path.split('/'), 1, [])
  }
}

function belowParameter<T>(node: Node<T>): Node<T> {
  node.parameter ??= { exact: new Map() }
  return node.parameter
}

function below<T>({ exact }: Node<T>, segment: string): Node<T> {
  const child = exact.get(segment)
  if (child) return child
  const node: Node<T> = { exact: new Map() }
  exact.set(segment, node)
  return node
}

function find<T>(
  node: Node<T>,
  segments: readonly string[],
  at: number,
  values: readonly string[],
): Matched<T> | undefined {
  const segment = segments[at]
  if (segment === undefined) return node.leaf && { ...node.leaf, values }
  const next = node.exact.get(segment)
  const exact = next && find(next, segments, at + 1, values)
  if (exact || segment === '') return exact
  const { parameter, rest } = node
  const one = parameter && find(parameter, segments, at + 1, [...values, segment])
  if (one || !rest) return one
  const all = segments.slice(at)
  return all.includes('') ? undefined : { ...rest, values: [...values, all.join('/')] }
}

/**
 * Values of the parameters of a path, decoded. Each is usable as the name of a file; the value of a `*name` as a relative path.
 * @throws {UrlErrors.MALFORMED_ENCODING} {@link UrlErrors.UNSAFE_SEGMENT}
 */
export function pathParameters({ names, values }: Pick<Matched<never>, 'names' | 'values'>): PathParameters {
  const parameters = Object.create(null) as Record<string, string>
  for (const [i, name] of names.entries()) parameters[name] = values[i]!.split('/').map(segmentValue).join('/')
  return parameters
}

function segmentValue(raw: string): string {
  const value = decode(raw)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are looked for
  if (value === '.' || value === '..' || /[/\\\u0000-\u001f\u007f]/.test(value)) {
    throw UrlErrors.UNSAFE_SEGMENT(shorten(raw))
  }
  return value
}
