import { Dialog } from '../components/dialog.tsx'
import { text } from './texts.ts'
import './home.css'

const SHORTCUTS = [
  { title: 'helpEverywhere', keys: { palette: 'Ctrl K', help: '?', helpClose: 'Esc' } },
  {
    title: 'helpGrid',
    keys: {
      helpMove: '← ↑ → ↓',
      helpEnds: 'Home End',
      helpPages: 'PageUp PageDown',
      helpOpen: 'Enter',
      helpChoose: 'Space',
      helpChooseMore: 'Shift ↑ ↓',
      helpChooseAll: 'Ctrl A',
      helpCopy: 'Ctrl C',
    },
  },
  { title: 'helpForms', keys: { helpSubmit: 'Ctrl Enter' } },
] as const

/** Lists all shortcuts of the page. */
export function Help({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title={text('help')} onClose={onClose}>
      <div class="help">
        {SHORTCUTS.map(({ title, keys }) => (
          <section key={title}>
            <h3>{text(title)}</h3>
            <dl>
              {Object.entries(keys).map(([what, key]) => (
                <div key={what}>
                  <dt>{text(what as Parameters<typeof text>[0])}</dt>
                  <dd>
                    {key.split(' ').map(each => (
                      <kbd key={each}>{each}</kbd>
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  )
}
