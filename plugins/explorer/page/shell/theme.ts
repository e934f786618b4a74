import { effect } from '@preact/signals'
import { storedSignal } from '../base/remembered.ts'

/** Themes; `system` follows the browser. */
export const THEMES = ['system', 'light', 'dark'] as const
export const theme = storedSignal<string>('theme', 'system')
export const chooseTheme = (name: string): void => {
  theme.value = name
}

effect(() => {
  document.documentElement.dataset.theme = theme.value
})
