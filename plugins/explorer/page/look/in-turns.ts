const AT_A_TIME = 4

/** The results for all items, some of which are processed concurrently. @param report called with the fraction that is done, from 0 to 1 */
export async function inTurns<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
  report?: (progress: number) => void,
): Promise<Result[]> {
  const results: Result[] = []
  let next = 0
  let doneCount = 0
  const worker = async (): Promise<void> => {
    while (next < items.length) {
      const index = next++
      results[index] = await work(items[index]!)
      report?.(++doneCount / items.length)
    }
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, worker))
  return results
}
