/** Entry point of the process in which a copy of the store is brought to a changed model while the server goes on. */
import { migrateBeside } from '../storage/migration/beside/migrate-beside.ts'
import { serveProcess } from './serve-process.ts'

serveProcess<'migration'>(migrateBeside)
