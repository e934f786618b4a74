import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { RequestOptions } from './client.ts'

/** The parts of a query that a hook needs. */
interface Listed<Entity> {
  readonly key: readonly unknown[]
  list(options?: RequestOptions): Promise<Entity[]>
}

/** Entities of a query; fetched again when the query changes, or when its dataclass is written to. */
export const useEntities = <Entity>(query: Listed<Entity>) =>
  useQuery({ queryKey: query.key, queryFn: ({ signal }) => query.list({ signal }), placeholderData: keepPreviousData })

/** A mutation that writes to a dataclass and then invalidates all queries of it. */
export function useWrite<Values, Result>(dataClass: string, write: (values: Values) => Promise<Result>) {
  const queries = useQueryClient()
  return useMutation({ mutationFn: write, onSettled: () => queries.invalidateQueries({ queryKey: [dataClass] }) })
}
