/** The filter as rows of conditions. */
import { batch } from '@preact/signals'
import { useId, useState } from 'preact/hooks'
import { targetOf } from '../base/catalog.ts'
import { labelOf } from '../base/label.ts'
import { type Attribute, type DataClass, NUMBERS } from '../base/model.ts'
import { selection } from '../base/selection.ts'
import { attributeAt, completionAt } from './complete.ts'
import { draft, incompleteText } from './draft.ts'
import { type Conjunction, type FilterTree, type OrderTerm, type Term, textOf, treeOf } from './filter-tree.ts'
import { conditionWith, type Operator, operandOf, operatorOf, operatorsFor, type Simple } from './operators.ts'
import { RemoveButton } from './remove-button.tsx'
import { text } from './texts.ts'

export function Builder() {
  const { dataClass } = selection.value!
  const tree = treeOf(draft.value)
  if (!tree) return <p class="hint">{text('onlyText')}</p>
  const change = (changes: Partial<FilterTree>): void => {
    const next = { ...tree, ...changes }
    const filter = textOf(next)
    batch(() => {
      incompleteText.value = next.terms.some(term => lacksValue(term, dataClass)) ? filter : ''
      draft.value = filter
    })
  }
  return (
    <fieldset class="builder">
      <legend class="unseen">{text('builder')}</legend>
      <Terms dataClass={dataClass} terms={tree.terms} onChange={terms => change({ terms })} />
      <Order dataClass={dataClass} order={tree.order} onChange={order => change({ order })} />
    </fieldset>
  )
}

/** Types for which an empty text is a value. */
const TYPES_WITH_EMPTY_TEXT: ReadonlySet<string | undefined> = new Set(['string', 'object', undefined])

function lacksValue({ condition }: Term, dataClass: DataClass): boolean {
  if (condition.kind === 'group') return condition.terms.some(term => lacksValue(term, dataClass))
  if (condition.kind === 'truth' || condition.value.kind !== 'literal' || condition.value.text !== '') return false
  return !TYPES_WITH_EMPTY_TEXT.has(attributeAt(condition.path, dataClass, targetOf)?.attribute.type)
}

const replaceItem = <Item,>(items: readonly Item[], index: number, ...by: readonly Item[]): readonly Item[] => [
  ...items.slice(0, index),
  ...by,
  ...items.slice(index + 1),
]

interface TermsProps {
  readonly dataClass: DataClass
  readonly terms: readonly Term[]
  readonly onChange: (terms: readonly Term[]) => void
}

function Terms({ dataClass, terms, onChange }: TermsProps) {
  const add = (condition: Term['condition']): void =>
    onChange([...terms, { conjunction: terms.at(-1)?.conjunction ?? 'and', isNegated: false, condition }])
  const first = newCondition(dataClass)
  return (
    <>
      {terms.map((term, index) => (
        <TermRow
          key={index}
          dataClass={dataClass}
          term={term}
          isFirst={index === 0}
          onChange={(...by) => onChange(replaceItem(terms, index, ...by))}
        />
      ))}
      <div class="row">
        <button type="button" class="quiet" onClick={() => add(first)}>
          + {text('condition')}
        </button>
        <button
          type="button"
          class="quiet"
          onClick={() => add({ kind: 'group', terms: [{ conjunction: 'and', isNegated: false, condition: first }] })}
        >
          + {text('group')}
        </button>
      </div>
    </>
  )
}

function newCondition(dataClass: DataClass): Simple {
  const label = labelOf(dataClass)
  return conditionWith(pathText(label.name), label, operatorsFor(label)[0]!, '')
}

const CONJUNCTIONS: readonly Conjunction[] = ['and', 'or', 'except']

interface TermProps {
  readonly dataClass: DataClass
  readonly term: Term
  readonly isFirst: boolean
  /** Called without arguments to remove the term. */
  readonly onChange: (...by: readonly Term[]) => void
}

function TermRow({ dataClass, term, isFirst, onChange }: TermProps) {
  const { condition } = term
  return (
    <div class={condition.kind === 'group' ? 'row group' : 'row'}>
      {isFirst ? (
        <span class="where">{text('where')}</span>
      ) : (
        <select
          class="where"
          aria-label={text('conjunction')}
          value={term.conjunction}
          onChange={({ currentTarget }) => onChange({ ...term, conjunction: currentTarget.value as Conjunction })}
        >
          {CONJUNCTIONS.map(each => (
            <option key={each} value={each}>
              {text(each)}
            </option>
          ))}
        </select>
      )}
      <button
        type="button"
        class="quiet not"
        aria-pressed={term.isNegated}
        onClick={() => onChange({ ...term, isNegated: !term.isNegated })}
      >
        {text('not')}
      </button>
      {condition.kind === 'group' ? (
        <div class="terms">
          <Terms
            dataClass={dataClass}
            terms={condition.terms}
            onChange={terms =>
              terms.length === 0 ? onChange() : onChange({ ...term, condition: { ...condition, terms } })
            }
          />
        </div>
      ) : (
        <ConditionRow
          dataClass={dataClass}
          condition={condition}
          onChange={condition => onChange({ ...term, condition })}
        />
      )}
      <RemoveButton onClick={() => onChange()} />
    </div>
  )
}

interface ConditionProps {
  readonly dataClass: DataClass
  readonly condition: Simple
  readonly onChange: (condition: Simple) => void
}

function ConditionRow({ dataClass, condition, onChange }: ConditionProps) {
  const attribute = attributeAt(condition.path, dataClass, targetOf)?.attribute
  const operator = operatorOf(condition)
  const operators = operatorsFor(attribute)
  const operand = operandOf(condition)
  return (
    <>
      <PathInput
        dataClass={dataClass}
        path={condition.path}
        onChange={path => {
          const next = attributeAt(path, dataClass, targetOf)?.attribute
          const allowedOperators = operatorsFor(next)
          onChange(
            conditionWith(path, next, allowedOperators.includes(operator) ? operator : allowedOperators[0]!, operand),
          )
        }}
      />
      <select
        aria-label={text('comparator')}
        value={operator}
        onChange={({ currentTarget }) =>
          onChange(conditionWith(condition.path, attribute, currentTarget.value as Operator, operand))
        }
      >
        {(operators.includes(operator) ? operators : [...operators, operator]).map(each => (
          <option key={each} value={each}>
            {nameOf(each)}
          </option>
        ))}
      </select>
      {operator !== 'null' && operator !== 'notNull' && operator !== 'truth' && (
        <ValueInput
          attribute={attribute}
          value={operand}
          isSingle={operator !== 'in' && operator !== 'contains'}
          onChange={value => onChange(conditionWith(condition.path, attribute, operator, value))}
        />
      )}
    </>
  )
}

const NAMES = {
  '=': 'equal',
  '!=': 'notEqual',
  '===': 'identical',
  '!==': 'notIdentical',
  '<': 'less',
  '<=': 'lessOrEqual',
  '>': 'greater',
  '>=': 'greaterOrEqual',
  begin: 'begins',
  in: 'oneOf',
  '%': 'word',
  contains: 'contains',
  null: 'isNull',
  notNull: 'isNotNull',
  truth: 'isTrue',
} as const satisfies Record<Operator, Parameters<typeof text>[0]>

const nameOf = (operator: Operator): string => text(NAMES[operator])

/** A path, in quotes if necessary. */
const pathText = (name: string): string =>
  /^[\w$\-.[\]{}\u0080-\uffff]+$/.test(name) || /^["']/.test(name) ? name : `"${name}"`

interface PathProps {
  readonly dataClass: DataClass
  readonly path: string
  readonly onChange: (path: string) => void
}

/** An attribute, over relations to any depth, with completions for each step. */
function PathInput({ dataClass, path, onChange }: PathProps) {
  const list = useId()
  const [typed, setTyped] = useState<string>()
  const shownPath = typed ?? path
  const completion = typed === undefined ? undefined : completionAt(typed, dataClass, targetOf)
  const take = (value: string): void => {
    setTyped(undefined)
    const newPath = pathText(value.trim().replace(/\.$/, ''))
    if (value.trim() !== '' && newPath !== path) onChange(newPath)
  }
  return (
    <>
      <input
        class="path"
        aria-label={text('attribute')}
        list={list}
        value={shownPath}
        autocomplete="off"
        spellcheck={false}
        onFocus={({ currentTarget }) => {
          setTyped(path)
          currentTarget.select()
        }}
        onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        onBlur={({ currentTarget }) => take(currentTarget.value)}
        onChange={({ currentTarget }) => {
          if (attributeAt(currentTarget.value, dataClass, targetOf)) take(currentTarget.value)
        }}
      />
      <datalist id={list}>
        {completion?.proposals
          .filter(({ kind }) => kind === 'attribute' || kind === 'relation')
          .map(({ text, kind, detail }) => {
            const value = typed!.slice(0, completion.start) + text + (kind === 'relation' ? '.' : '')
            return (
              <option key={value} value={value}>
                {detail}
              </option>
            )
          })}
      </datalist>
    </>
  )
}

interface ValueProps {
  readonly attribute: Attribute | undefined
  readonly value: string
  readonly isSingle: boolean
  readonly onChange: (value: string) => void
}

function ValueInput({ attribute, value, isSingle, onChange }: ValueProps) {
  // A trailing comma has no meaning yet, and is kept while the list is being typed.
  const [typed, setTyped] = useState<string>()
  if (isSingle && attribute?.type === 'bool') {
    return (
      <select aria-label={text('value')} value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        {['true', 'false', ...(value === 'true' || value === 'false' ? [] : [value])].map(each => (
          <option key={each} value={each}>
            {each}
          </option>
        ))}
      </select>
    )
  }
  const hint = isSingle ? (attribute?.type === 'date' ? DATE_HINT : undefined) : text('listHint')
  return (
    <input
      class="value"
      inputMode={attribute && NUMBERS.has(attribute.type) ? 'decimal' : 'text'}
      aria-label={text('value')}
      placeholder={hint}
      value={typed ?? value}
      autocomplete="off"
      onInput={({ currentTarget }) => {
        setTyped(currentTarget.value)
        onChange(currentTarget.value)
      }}
      onBlur={() => setTyped(undefined)}
    />
  )
}

const DATE_HINT = '2026-01-31'

interface OrderProps {
  readonly dataClass: DataClass
  readonly order: readonly OrderTerm[]
  readonly onChange: (order: readonly OrderTerm[]) => void
}

function Order({ dataClass, order, onChange }: OrderProps) {
  return (
    <div class="row order">
      <span class="where">{text('sortedBy')}</span>
      {order.map((term, index) => (
        <span key={index} class="term">
          <PathInput
            dataClass={dataClass}
            path={term.path}
            onChange={path => onChange(replaceItem(order, index, { ...term, path }))}
          />
          <select
            aria-label={text('direction')}
            value={term.descending ? 'descending' : 'ascending'}
            onChange={({ currentTarget }) =>
              onChange(replaceItem(order, index, { ...term, descending: currentTarget.value === 'descending' }))
            }
          >
            <option value="ascending">{text('ascending')}</option>
            <option value="descending">{text('descending')}</option>
          </select>
          <RemoveButton onClick={() => onChange(replaceItem(order, index))} />
        </span>
      ))}
      <button
        type="button"
        class="quiet"
        onClick={() => onChange([...order, { path: pathText(labelOf(dataClass).name), descending: false }])}
      >
        + {text('order')}
      </button>
    </div>
  )
}
