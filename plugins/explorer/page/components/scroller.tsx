import type { ComponentChildren } from 'preact'

/** A part that scrolls by itself, by keys too: it takes the focus. */
export const Scroller = ({ label, children }: { readonly label: string; readonly children: ComponentChildren }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: without the focus it cannot be scrolled by keys
  <section class="scroll" aria-label={label} tabIndex={0}>
    {children}
  </section>
)
