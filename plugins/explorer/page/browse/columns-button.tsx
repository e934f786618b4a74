import { useSignal } from '@preact/signals'
import { lazy } from '../shell/lazy.tsx'
import type { Column } from './columns.ts'
import { text } from './texts.ts'

const ColumnsDialog = lazy(() => import('./columns-dialog.tsx').then(module => module.ColumnsDialog))

/** Opens the choice of columns. */
export function ColumnsButton({ columns }: { readonly columns: readonly Column[] }) {
  const isOpen = useSignal(false)
  return (
    <>
      <button
        type="button"
        aria-haspopup="dialog"
        onClick={() => {
          isOpen.value = true
        }}
      >
        {text('columns')}
      </button>
      {isOpen.value && (
        <ColumnsDialog
          columns={columns}
          onClose={() => {
            isOpen.value = false
          }}
        />
      )}
    </>
  )
}
