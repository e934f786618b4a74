import {
  definePlugin,
  gauge,
  json,
  type Metric,
  type Reply,
  type RestRequest,
  Type,
  type ServiceSpec,
} from '../../kernel/api.ts'
import { BackupErrors } from './errors.ts'
import { BackupRuns } from './backup-runs.ts'

/**
 * Backups of the store while the server runs, into the folder or the bucket `backup.folder`, on request and on the schedule
 * `backup.schedule`. For administrators, as `$info`.
 *
 *   POST /$backup            →  202 { "running": { "since": "2026-11-27T02:15:00.000Z", … }, … }; does nothing more if one is running
 *   POST /$backup?$full=true →  copies the data file, even if the commits since the last backup would suffice
 *   GET  /$backup            →  { "running": null | { "since", "step": { "what", "done", "total" } },
 *                                 "last": null | { "ended", "name", "kind", "bytes", "stamp" } | { "ended", "error" },
 *                                 "next": "2026-11-27T03:00:00.000Z" | null,
 *                                 "backupCount": 12, "backups": [{ name, kind, time, stamp, bytes }] }, the newest first; `problems` of those
 *                                 that are damaged
 *
 * A backup runs in a separate process, at a lower priority. `tesser restore` and `tesser backup verify` use the same place.
 */
export default definePlugin({
  name: 'backup',
  kernel: '^1.0.0',
  options: Type.Object({
    folder: Type.Optional(Type.String({ description: 'Folder of the backups, or `s3://bucket/prefix`.' })),
    endpoint: Type.Optional(Type.String({ description: 'Address of the server that has the bucket.' })),
    schedule: Type.String({ default: '', description: 'Times of backups, as in cron; empty for no schedule.' }),
    fullDays: Type.Number({ default: 7, description: 'Age in days after which the data file is copied again.' }),
    keepDays: Type.Number({ default: 30, description: 'Age in days after which a backup is removed.' }),
  }),
  async register({ service, parameter, engine, log, metrics, now, onReady, onClose }, options) {
    const { folder, endpoint, schedule, fullDays, keepDays } = options
    const runs =
      folder === undefined
        ? undefined
        : new BackupRuns({ engine, log, now, place: { folder, endpoint }, policy: { fullDays, keepDays } })
    metrics.add(async () => (runs ? metricsOf(runs) : []))

    if (runs) onReady(() => runs.load())
    if (schedule !== '') {
      if (!runs) throw new Error('backup.schedule is set, but backup.folder is not: it names the folder of the backups')
      const timer = await startTimer(schedule, () => void runs.run(false))
      runs.next = () => timer.nextRun()
      onReady(() => void timer.resume())
      onClose(() => timer.stop())
    }

    parameter('$full', {
      schema: { type: 'boolean' },
      doc: 'Copies the data file, even if the commits since the last backup would be enough.',
      example: true,
      on: ['backup'],
    })
    service('$backup', BACKUP, async (request: RestRequest) => {
      if (request.parts.length > 0) throw BackupErrors.UNKNOWN_PART(request.parts.join('/').slice(0, 100))
      if (!runs) throw BackupErrors.NO_FOLDER()
      const isPost = request.transport.method === 'POST'
      if (isPost) void runs.run(request.flag('$full'))
      return answer(await runs.describe(), isPost ? 202 : 200)
    })
  },
})

const BACKUP: ServiceSpec = {
  verbs: ['GET', 'POST'],
  administrators: true,
  doc: 'Backups of the store.',
  tag: 'server',
  operations: {
    'GET /': { id: 'backups', doc: 'State of backups, and a list of the backups, newest first' },
    'POST /': {
      id: 'backup',
      doc: 'Makes a backup in `backup.folder`, unless a backup is running',
      answers: { 202: { doc: 'A backup is running.' } },
    },
  },
}

const answer = (value: object, status: number): Reply => ({ ...json(value), status })

/** Creates a paused timer. @throws {Error} the schedule cannot be read */
async function startTimer(schedule: string, onTime: () => void) {
  const { Cron } = await import('croner')
  try {
    return new Cron(schedule, { paused: true, unref: true }, onTime)
  } catch (error) {
    throw new Error(`backup.schedule: "${schedule}" is not a schedule: ${(error as Error).message}`, { cause: error })
  }
}

function metricsOf({ currentRun, lastSuccess, failures }: BackupRuns): Metric[] {
  return [
    gauge('backup_running', '1 while a backup is running.', currentRun ? 1 : 0),
    gauge(
      'backup_last_success_timestamp_seconds',
      'Time of the last complete backup, in seconds since 1970; 0 for none.',
      (lastSuccess?.endedAt ?? 0) / 1000,
    ),
    gauge('backup_last_bytes', 'Bytes that the last complete backup added.', lastSuccess?.bytes ?? 0),
    {
      name: 'backup_failures_total',
      help: 'Backups that failed.',
      type: 'counter',
      values: [{ labels: {}, value: failures }],
    },
  ]
}
