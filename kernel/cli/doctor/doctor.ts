import type { Config } from '../../../config/load-config.ts'
import { quantity } from '../../../engine/base/counted.ts'
import packageJson from '../../../package.json' with { type: 'json' }
import { examineDisk } from './examine-disk.ts'
import { examineParts } from './examine-parts.ts'
import { examineSystem } from './examine-system.ts'
import type { Finding } from './finding.ts'

const WIDTH = 22

/**
 * `tesser doctor`: tells what is slow or missing on this machine, and what to do.
 * @returns false if something is broken
 */
export async function doctor(
  config: Config,
  { json }: { readonly json: boolean },
  print: (line: string) => void,
): Promise<boolean> {
  const parts = await examineParts()
  const isUsable = parts.every(({ state }) => state !== 'broken')
  const engine = isUsable ? (await import('./examine-engine.ts')).examineEngine(config) : []
  const findings = [...examineSystem(config), ...engine, ...parts, ...examineDisk(config.data)]
  const brokenCount = findings.filter(({ state }) => state === 'broken').length
  if (json) print(JSON.stringify({ version: packageJson.version, ok: brokenCount === 0, findings }, undefined, 2))
  else print([`Tesser ${packageJson.version}`, ...findings.map(describe), summary(findings, brokenCount)].join('\n'))
  return brokenCount === 0
}

function describe({ topic, state, text, remedy }: Finding): string {
  const line = `  ${state.padEnd(8)}${topic.padEnd(WIDTH)}${text}`
  return remedy === undefined ? line : `${line}\n${' '.repeat(WIDTH + 10)}→ ${remedy}`
}

function summary(findings: readonly Finding[], brokenCount: number): string {
  const limitedCount = findings.filter(({ state }) => state === 'limited').length
  if (brokenCount + limitedCount === 0) return 'all is well'
  const limits = `${quantity(limitedCount, 'topic')} limited`
  return brokenCount === 0 ? `${limits}, nothing is broken` : `${quantity(brokenCount, 'topic')} broken, ${limits}`
}
