/** The filter as text with colours, completion and the server's errors, by CodeMirror. Loaded on first use. */
import {
  acceptCompletion,
  autocompletion,
  closeCompletion,
  type CompletionContext,
  completionKeymap,
  completionStatus,
  type CompletionResult,
  moveCompletionSelection,
  selectedCompletionIndex,
} from '@codemirror/autocomplete'
import { history, historyKeymap, standardKeymap } from '@codemirror/commands'
import { type Diagnostic, setDiagnostics } from '@codemirror/lint'
import { EditorState, RangeSetBuilder } from '@codemirror/state'
import {
  Decoration,
  type DecorationSet,
  drawSelection,
  EditorView,
  keymap,
  placeholder,
  ViewPlugin,
  type ViewUpdate,
} from '@codemirror/view'
import { ask } from '../base/rest.ts'
import { targetOf } from '../base/catalog.ts'
import { quote } from '../base/condition.ts'
import { type TokenKind, tokensOf } from '../base/filter-tokens.ts'
import type { DataClass } from '../base/model.ts'
import { type Completion, completionAt, type Proposal, valueProposals } from './complete.ts'
import type { ErrorPlace } from './error-place.ts'
import { text } from './texts.ts'

/** Maximum number of proposed values. */
const MAX_VALUES = 20
const PATIENCE_MS = 3_000

interface EditorOptions {
  readonly parent: HTMLElement
  readonly label: string
  readonly placeholder: string
  readonly dataClass: () => DataClass
  readonly onChange: (text: string) => void
  readonly onSubmit: () => void
}

export interface FilterEditor {
  readonly hasFocus: boolean
  setText(text: string): void
  select(start: number, end: number): void
  /** Underlines the place of an error, or removes the mark. */
  mark(message: string | undefined, place?: ErrorPlace): void
  destroy(): void
}

export function createEditor(options: EditorOptions): FilterEditor {
  const { parent } = options
  // Scripts create the styles of the editor, which the page's policy allows in a shadow tree only.
  const root = parent.shadowRoot ?? parent.attachShadow({ mode: 'open' })
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({ extensions: extensionsOf(options) }),
  })
  return {
    get hasFocus() {
      return view.hasFocus
    },
    setText(text) {
      const { doc } = view.state
      if (doc.toString() === text) return
      view.dispatch({ changes: { from: 0, to: doc.length, insert: text } })
    },
    select(start, end) {
      view.focus()
      const { length } = view.state.doc
      view.dispatch({ selection: { anchor: Math.min(start, length), head: Math.min(end, length) } })
    },
    mark(message, place) {
      const { length } = view.state.doc
      const diagnostics: Diagnostic[] = []
      if (message !== undefined && place && place.end <= length) diagnostics.push(diagnosticOf(message, place))
      view.dispatch(setDiagnostics(view.state, diagnostics))
    },
    destroy: () => view.destroy(),
  }
}

function diagnosticOf(message: string, { start, end, proposal }: ErrorPlace): Diagnostic {
  const apply = (view: EditorView, from: number, to: number): void =>
    view.dispatch({ changes: { from, to, insert: proposal ?? '' }, userEvent: 'input.complete' })
  const actions = proposal === undefined ? [] : [{ name: text('replace', { proposal }), apply }]
  return { from: start, to: end, severity: 'error', message, actions }
}

const extensionsOf = ({ label, placeholder: hint, dataClass, onChange, onSubmit }: EditorOptions) => [
  history(),
  drawSelection(),
  EditorView.lineWrapping,
  EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0', spellcheck: 'false', autocapitalize: 'off' }),
  EditorView.clipboardInputFilter.of(text => text.replace(/\s*[\r\n]+\s*/g, ' ')),
  placeholder(hint),
  autocompletion({
    override: [context => complete(context, dataClass())],
    activateOnCompletion: ({ type }) => type === 'relation',
    interactionDelay: 0,
    selectOnOpen: false,
    icons: false,
  }),
  keymap.of([
    { key: 'Tab', run: acceptFirst },
    ...completionKeymap,
    {
      key: 'Enter',
      run: view => {
        closeCompletion(view)
        onSubmit()
        return true
      },
    },
    ...historyKeymap,
    ...standardKeymap,
  ]),
  EditorView.updateListener.of(({ docChanged, state }) => {
    if (docChanged) onChange(state.doc.toString())
  }),
  colours,
  theme,
]

/** Accepts the selected proposal, or the first one; without proposals Tab moves the focus. */
function acceptFirst(view: EditorView): boolean {
  if (completionStatus(view.state) !== 'active') return false
  if (selectedCompletionIndex(view.state) === null) moveCompletionSelection(true)(view)
  return acceptCompletion(view)
}

async function complete(context: CompletionContext, dataClass: DataClass): Promise<CompletionResult | null> {
  const completion = completionAt(context.state.sliceDoc(0, context.pos), dataClass, targetOf)
  if (!completion) return null
  const { start, proposals } = completion
  const values = await valuesOf(completion, context)
  const options = [...values, ...proposals].map(optionOf)
  // Values come from the server and must be requested again for a different prefix.
  return completion.values ? { from: start, options, filter: false } : { from: start, options, validFor: /^[\w$-]*$/ }
}

/** Stored values; empty if the server does not answer. */
async function valuesOf({ values }: Completion, context: CompletionContext): Promise<readonly Proposal[]> {
  if (!values) return []
  const { dataClass, attribute, prefix } = values
  const controller = new AbortController()
  context.addEventListener('abort', () => controller.abort(), { onDocChange: true })
  const parameters = {
    $distinct: true,
    $top: MAX_VALUES,
    $filter: prefix && `"${attribute.name} begin ${quote(prefix)}"`,
  }
  const signal = AbortSignal.any([controller.signal, AbortSignal.timeout(PATIENCE_MS)])
  const answer = await ask<readonly unknown[]>(`${dataClass.name}/${attribute.name}`, parameters, { signal }).catch(
    () => [],
  )
  return valueProposals(answer)
}

const optionOf = ({ text, kind, detail }: Proposal) => ({
  label: text,
  type: kind,
  ...(detail === undefined ? {} : { detail }),
  apply: kind === 'relation' ? `${text}.` : kind === 'attribute' ? text : `${text} `,
})

const CLASSES: Readonly<Partial<Record<TokenKind, string>>> = {
  not: 'keyword',
  conjunction: 'keyword',
  orderBy: 'keyword',
  direction: 'keyword',
  comparator: 'comparator',
  text: 'value',
  word: 'value',
  null: 'value',
  list: 'value',
  placeholder: 'value',
  unknown: 'unknown',
}
const MARKS = new Map(Object.entries(CLASSES).map(([kind, name]) => [kind, Decoration.mark({ class: name })]))

const colours = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet
    constructor(view: EditorView) {
      this.decorations = decorationsOf(view.state)
    }
    update({ docChanged, state }: ViewUpdate): void {
      if (docChanged) this.decorations = decorationsOf(state)
    }
  },
  { decorations: ({ decorations }) => decorations },
)

function decorationsOf({ doc }: EditorState): DecorationSet {
  const ranges = new RangeSetBuilder<Decoration>()
  for (const { kind, start, end } of tokensOf(doc.toString()).tokens) {
    const mark = MARKS.get(kind)
    if (mark) ranges.add(start, end, mark)
  }
  return ranges.finish()
}

const theme = EditorView.theme({
  '&': { fontSize: '13px', color: 'var(--ink)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { overflowX: 'hidden', fontFamily: 'ui-monospace, monospace', lineHeight: '1.45', maxHeight: '8rem' },
  '.cm-content': { minWidth: '0', padding: '0', caretColor: 'var(--ink)' },
  '.cm-line': { padding: '0', overflow: 'hidden' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    background: 'var(--chosen)',
  },
  '.cm-placeholder': { color: 'var(--faint)', whiteSpace: 'nowrap' },
  '.keyword': { color: 'var(--accent)', fontWeight: '600' },
  '.comparator': { color: 'var(--accent)' },
  '.value': { color: 'var(--done)' },
  '.unknown': { color: 'var(--faint)' },
  '.cm-lintRange-error': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--error)',
    textUnderlineOffset: '3px',
  },
  '.cm-tooltip': {
    border: '1px solid var(--line)',
    borderRadius: 'var(--round)',
    background: 'var(--ground)',
    color: 'var(--ink)',
    overflow: 'hidden',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'inherit', maxHeight: '16rem' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': {
    display: 'flex',
    justifyContent: 'space-between',
    gap: '1.5rem',
    padding: '0.15rem 0.5rem',
  },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': { background: 'var(--chosen)', color: 'var(--ink)' },
  '.cm-completionMatchedText': { textDecoration: 'none', fontWeight: '700' },
  '.cm-completionDetail': { color: 'var(--faint)', fontStyle: 'normal' },
  '.cm-diagnostic': { borderLeft: 'none', padding: '0.25rem 0.5rem' },
  '.cm-diagnosticAction': {
    border: '1px solid var(--line)',
    borderRadius: 'var(--round)',
    background: 'var(--raised)',
    color: 'var(--ink)',
  },
})
