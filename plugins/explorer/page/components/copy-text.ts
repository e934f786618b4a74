import { text } from './texts.ts'

/** Writes a text into the clipboard. @throws {Error} the browser refuses it */
export async function copyText(content: string): Promise<void> {
  // Browsers offer the clipboard only to pages over HTTPS or of this machine.
  if (navigator.clipboard) return navigator.clipboard.writeText(content)
  const focused = document.activeElement
  const area = document.createElement('textarea')
  area.value = content
  document.body.append(area)
  area.select()
  const isCopied = document.execCommand('copy')
  area.remove()
  if (focused instanceof HTMLElement) focused.focus({ preventScroll: true })
  if (!isCopied) throw new Error(text('notCopied'))
}
