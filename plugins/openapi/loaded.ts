/** Plugin of each parameter, by the last part of the name of its component. */
const OF_PARAMETER: Readonly<Record<string, string>> = {
  filter: 'filter',
  deletion: 'filter',
  dropFilter: 'filter',
  dropParams: 'filter',
  params: 'filter',
  orderby: 'order-by',
  attributes: 'attributes',
  expand: 'expand',
  top: 'paging',
  limit: 'paging',
  skip: 'paging',
  asArray: 'as-array',
  exact: 'exact',
  format: 'format',
  queryplan: 'query-plan',
  querypath: 'query-plan',
  brief: 'brief',
  prettyprint: 'pretty-print',
  prettyformatting: 'pretty-print',
  keep: 'entity-set',
  keepRelated: 'entity-set',
  savedfilter: 'entity-set',
  savedorderby: 'entity-set',
  clean: 'entity-set',
  logicOperator: 'entity-set',
  otherCollection: 'entity-set',
  release: 'entity-set',
  refreshSet: 'entity-set',
  subOrderby: 'entity-set',
  subExpand: 'entity-set',
  distinct: 'distinct',
  counts: 'distinct',
  compute: 'compute',
  lock: 'lock',
  mustLock: 'lock',
  drop: 'delete',
  mustDrop: 'delete',
  saveOrDrop: 'update',
  rawPict: 'upload',
  dates: 'client',
  module: 'client',
  save: 'update',
  refresh: 'update',
  full: 'backup',
  allowLoss: 'migrate',
  rowsFormat: 'import',
  existing: 'import',
  trial: 'import',
  preview: 'import',
  importId: 'import',
  columns: 'import',
  delimiter: 'import',
  decimal: 'import',
  dateOrder: 'import',
  encoding: 'import',
  nulls: 'import',
  imageformat: 'binary',
  version: 'binary',
  width: 'binary',
  height: 'binary',
  binary: 'binary',
}

/** Plugin of an address. */
const OF_PATH: readonly (readonly [RegExp, string])[] = [
  [/^\/\$catalog/, 'catalog'],
  [/^\/\$client/, 'client'],
  [/^\/\$directory/, 'directory'],
  [/^\/\$backup/, 'backup'],
  [/^\/\$jobs/, 'jobs'],
  [/^\/\$migrate/, 'migrate'],
  [/^\/\$import/, 'import'],
  [/^\/\$info/, 'info'],
  [/^\/\$singleton/, 'functions'],
  [/^\/\$upload/, 'upload'],
  [/\/\$entityset/, 'entity-set'],
  [/\/\$query(\/|$)/, 'post-query'],
]

/** Plugin of an operation, by the part of its id after the dataclass. */
const OF_OPERATION: readonly (readonly [RegExp, string])[] = [
  [/^(list|listAttributes|get|getSeveral|getAttributes|related\..*|by\..*)$/, 'read'],
  [/^save$/, 'update'],
  [/^delete/, 'delete'],
  [/^lock$/, 'lock'],
  [/^bytes\./, 'binary'],
  [/^(put|clear)\./, 'upload'],
  [/^(dataClass|entity|entitySelection)\..*\.(get|post)$/, 'functions'],
]

type Item = Readonly<Record<string, unknown>>
interface Operation {
  readonly operationId?: string
  readonly parameters?: readonly { readonly $ref?: string; readonly required?: boolean }[]
}

const ownerIn = (table: readonly (readonly [RegExp, string])[], text: string): string | undefined =>
  table.find(([expression]) => expression.test(text))?.[1]

/** True if the plugin of a parameter, by the name of its component, is loaded. */
export const isParameterOf = (plugins: readonly string[], name: string): boolean => {
  const owner = OF_PARAMETER[name.split('.').at(-1)!]
  return owner === undefined || plugins.includes(owner)
}

/** Paths of loaded plugins, with their parameters. A path that no table names is always included. */
export function loadedPaths(
  paths: Readonly<Record<string, object>>,
  parameters: Readonly<Record<string, object>>,
  plugins: readonly string[],
): Record<string, object> {
  const isLoaded = (owner: string | undefined): boolean => owner === undefined || plugins.includes(owner)
  const isParameter = (name: string): boolean => isParameterOf(plugins, name)
  const nameOf = (ref: string | undefined): string => ref?.split('/').at(-1) ?? ''
  const isWhole = ({ parameters: own = [] }: Operation): boolean =>
    own.every(({ $ref }) => isParameter(nameOf($ref)) || !(parameters[nameOf($ref)] as { required?: boolean }).required)
  const keptOf = (own: NonNullable<Operation['parameters']>) => own.filter(({ $ref }) => isParameter(nameOf($ref)))
  const kept = (item: Item): Item | undefined => {
    const members = Object.entries(item).flatMap(([name, value]) => {
      if (name === 'parameters') return [[name, keptOf(value as NonNullable<Operation['parameters']>)]]
      if (name === 'servers') return [[name, value]]
      const operation = value as Operation
      const id = operation.operationId?.split('.').slice(1).join('.') ?? ''
      if (!isLoaded(ownerIn(OF_OPERATION, id)) || !isWhole(operation)) return []
      const own = operation.parameters && keptOf(operation.parameters)
      return [[name, own ? { ...operation, parameters: own } : operation]]
    })
    const isEmpty = members.every(([name]) => name === 'parameters')
    return isEmpty ? undefined : (Object.fromEntries(members) as Item)
  }
  const shown = Object.entries(paths).flatMap(([path, item]) => {
    const found = isLoaded(ownerIn(OF_PATH, path)) ? kept(item as Item) : undefined
    return found ? [[path, found] as const] : []
  })
  return Object.fromEntries(shown)
}
