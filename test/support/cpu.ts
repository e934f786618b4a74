/** CPU time of this process while some work is done, in microseconds: on a busy machine it tells more than the clock. */
export function cpuMicroseconds(work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return user + system
}
