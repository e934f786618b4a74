/** The explorer in a browser, on the data of the demo. Every view is also tested on a narrow screen. */
import { startExplorer } from './demo.ts'
import { inBrowser } from './harness.ts'
import { access } from './scenarios/access.ts'
import { rights } from './scenarios/admin.ts'
import { browse } from './scenarios/browse.ts'
import { entity } from './scenarios/entity.ts'
import { find } from './scenarios/find.ts'
import { look, maps } from './scenarios/look.ts'
import { paste } from './scenarios/paste.ts'
import { shell } from './scenarios/shell.ts'
import { speed } from './scenarios/speed.ts'
import { stranger } from './scenarios/stranger.ts'
import { exports } from './scenarios/transfer.ts'

await inBrowser(
  { shell, browse, find, entity, paste, look, maps, speed, stranger, exports, access, rights },
  startExplorer,
)
