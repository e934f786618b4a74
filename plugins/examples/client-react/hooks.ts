import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { RequestOptions } from './client.ts'

/** The parts of a query that a hook needs. */
interface Listed<Entity> {
  readonly key: readonly unknown[]
  list(options?: RequestOptions): Promise<Entity[]>
}

/** The entities of a query, which is asked again when it changes, or when its dataclass is written to. */
export const useEntities = <Entity>(query: Listed<Entity>) =>
  useQuery({ queryKey: query.key, queryFn: ({ signal }) => query.list({ signal }), placeholderData: keepPreviousData })

/** Something that writes to a dataclass: all that was read of it is asked again. */
export function useWrite<Values, Result>(dataClass: string, write: (values: Values) => Promise<Result>) {
  const queries = useQueryClient()
  return useMutation({ mutationFn: write, onSettled: () => queries.invalidateQueries({ queryKey: [dataClass] }) })
}
