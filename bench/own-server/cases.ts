import type { OwnServerCase } from './own-server-case.ts'
import backup from './backup.bench.ts'
import databases from './databases.bench.ts'
import events from './events.bench.ts'
import fill from './fill.bench.ts'
import importBesideReads from './import.bench.ts'
import lines from './lines.bench.ts'
import metrics from './metrics.bench.ts'
import image from './image.bench.ts'
import uploads from './uploads.bench.ts'
import vectorNearest from './vector-nearest.bench.ts'
import waiting from './waiting.bench.ts'
import webhooks from './webhooks.bench.ts'

export const OWN_SERVER_CASES: readonly OwnServerCase[] = [
  backup,
  databases,
  events,
  fill,
  image,
  importBesideReads,
  lines,
  metrics,
  uploads,
  vectorNearest,
  waiting,
  webhooks,
]
