import { execFileSync } from 'node:child_process'
import { cpus, totalmem } from 'node:os'
import type { Machine } from './report.ts'

export function machine(transport: string): Machine {
  const processors = cpus()
  return {
    cpu: processors[0]?.model.trim() ?? 'unknown processor',
    cores: processors.length,
    memoryBytes: totalmem(),
    node: process.versions.node,
    transport,
    commit: commit(),
  }
}

function commit(): string {
  try {
    const git = (...args: string[]) =>
      execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    const isChanged = git('status', '--porcelain', '--untracked-files=no') !== ''
    return `${git('rev-parse', '--short', 'HEAD').trim()}${isChanged ? '+' : ''}`
  } catch {
    // Not a checkout.
    return 'unknown'
  }
}
