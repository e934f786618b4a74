/** Entry point of the process that migrates a copy of the store to a changed model while the server continues to run. */
import { migrateBeside } from '../storage/migration/beside/migrate-beside.ts'
import { serveProcess } from './serve-process.ts'

serveProcess<'migration'>(migrateBeside)
