import { lastChange, notice, works } from '../base/work.ts'
import { CloseButton } from '../components/dialog.tsx'
import { text } from './texts.ts'

/** Foot of the page: work in progress, the last change that can be undone, and the last notice. */
export function Notices() {
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
        {[lastChange, notice].map(
          (each, at) =>
            each.value && (
              <div key={at} class={`notice ${each.value.kind}`}>
                <span>{each.value.text}</span>
                {each.value.action && (
                  <button type="button" onClick={each.value.action.run}>
                    {each.value.action.label}
                  </button>
                )}
                <CloseButton
                  onClick={() => {
                    each.value = undefined
                  }}
                />
              </div>
            ),
        )}
      </div>
    </div>
  )
}
