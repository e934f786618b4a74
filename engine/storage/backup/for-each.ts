/** Maximum number of pieces of work in progress, while each of them waits for a disk or a server. */
const AT_ONCE = 8

/** Does work for each item, some at a time. Rejects with the first failure, when all work that had begun has ended. */
export async function forEach<T>(
  items: Iterable<T>,
  work: (item: T, index: number) => Promise<void>,
  atOnce = AT_ONCE,
): Promise<void> {
  const failures: unknown[] = []
  const queue = items[Symbol.iterator]()
  let index = 0
  const some = async (): Promise<void> => {
    for (let next = queue.next(); !next.done && failures.length === 0; next = queue.next()) {
      try {
        await work(next.value, index++)
      } catch (error) {
        failures.push(error)
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, some))
  if (failures.length > 0) throw failures[0]
}
