import type { ComponentChildren } from 'preact'

/** A scrollable region; it takes the focus so that keys can scroll it. */
export const Scroller = ({ label, children }: { readonly label: string; readonly children: ComponentChildren }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: without the focus it cannot be scrolled by keys
  <section class="scroll" aria-label={label} tabIndex={0}>
    {children}
  </section>
)
