import { JOB_STATES } from '../../engine/index.ts'
import type { ServiceSpec } from '../../kernel/api.ts'

const id = { schema: { type: 'string', pattern: '^[0-9a-f]{32}$' } }
const state = { schema: { type: 'string', enum: JOB_STATES }, example: 'failed' }

export const OPERATIONS: ServiceSpec['operations'] = {
  'GET /': { id: 'jobs', doc: 'Job functions, and the number of jobs in each state, up to 10,000' },
  'GET /{state}': {
    id: 'jobs.list',
    doc: 'Jobs in a state, newest first; `failed/Ticket.embed`: only jobs of one function',
    path: { state },
  },
  'POST /failed/replay': {
    id: 'jobs.replayFailed',
    doc: 'Runs all failed jobs again; `failed/Ticket.embed/replay`: only jobs of one function',
  },
  'POST /{id}/{action}': {
    id: 'jobs.change',
    doc: 'Cancels a job, or runs it again',
    path: { id, action: { schema: { type: 'string', enum: ['cancel', 'replay'] } } },
  },
}
