import { notice, works } from '../base/work.ts'
import { CloseButton } from '../components/dialog.tsx'
import { text } from './texts.ts'

/** Foot of the page: work in progress, and the last notice. */
export function Notices() {
  const last = notice.value
  return (
    <div class="notices">
      {works.value.map(({ title, progress, cancel }) => (
        <div class="work" key={title}>
          <label>
            {title} <progress value={progress} />
          </label>
          <button type="button" onClick={cancel}>
            {text('cancel')}
          </button>
        </div>
      ))}
      <div role="status">
        {last && (
          <div class={`notice ${last.kind}`}>
            <span>{last.text}</span>
            {last.action && (
              <button type="button" onClick={last.action.run}>
                {last.action.label}
              </button>
            )}
            <CloseButton
              onClick={() => {
                notice.value = undefined
              }}
            />
          </div>
        )}
      </div>
    </div>
  )
}
