/** The explorer: everything that it shows comes from `/rest`, with the rights of the user. */
import { render } from 'preact'
import { loadLanguages } from './base/languages.ts'
import { noteRecentPlaces } from './base/recent.ts'
import { loadSession } from './base/session.ts'
import { complain } from './base/work.ts'
import { App } from './shell/app.tsx'
import { watchSession } from './shell/watch-session.ts'
import './shell/theme.css'
import './shell/shell.css'

render(<App />, document.body)
noteRecentPlaces()
watchSession()
loadSession().catch(complain)
loadLanguages().catch(complain)
