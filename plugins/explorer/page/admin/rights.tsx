import { change, place } from '../base/place.ts'
import { List } from './list.tsx'
import { Part } from './part.tsx'
import { text } from './texts.ts'

/** Decision about an action, with the reason. */
interface Verdict {
  readonly allowed: boolean
  /** Resource whose setting decides; absent if the default decides. */
  readonly setting?: string
  readonly needed?: readonly string[]
  readonly by?: string
}

const ACTIONS = ['read', 'create', 'update', 'drop', 'execute'] as const

interface Right extends Readonly<Partial<Record<(typeof ACTIONS)[number], Verdict>>> {
  readonly type: string
  readonly name: string
}

interface RolesAnswer {
  readonly hasRoles: boolean
  readonly roles?: readonly { readonly role: string }[]
  readonly privileges?: readonly { readonly privilege: string }[]
}

interface RightsAnswer {
  readonly privileges: readonly { readonly privilege: string; readonly by?: string }[]
  readonly rightCount: number
  readonly rights: readonly Right[]
}

/** Rights of a guest, a role or a privilege, with the reasons. */
export function Rights() {
  return <Part<RolesAnswer> path="$info/roles">{answer => <Chooser {...answer} />}</Part>
}

const optionOf = (kind: 'role' | 'privilege', name: string) => ({ name, value: `${kind}/${encodeURIComponent(name)}` })

const asOption = ({ name, value }: ReturnType<typeof optionOf>) => (
  <option key={value} value={value}>
    {name}
  </option>
)

function Chooser({ hasRoles, roles = [], privileges = [] }: RolesAnswer) {
  if (!hasRoles) return <p class="hint">{text('noRoles')}</p>
  const offered = {
    role: roles.map(({ role }) => optionOf('role', role)),
    privilege: privileges.map(({ privilege }) => optionOf('privilege', privilege)),
  }
  // The value may come from a foreign link: only listed grants are requested.
  const requestedGrant = place.value.query.of
  const grant = [...offered.role, ...offered.privilege].find(({ value }) => value === requestedGrant)?.value ?? ''
  return (
    <>
      <label class="actions">
        {text('rightsOf')}
        <select value={grant} onChange={({ currentTarget }) => change({ of: currentTarget.value })}>
          <option value="">{text('guest')}</option>
          <optgroup label={text('roles')}>{offered.role.map(asOption)}</optgroup>
          <optgroup label={text('privileges')}>{offered.privilege.map(asOption)}</optgroup>
        </select>
      </label>
      <Part<RightsAnswer> path={`$info/rights${grant && `/${grant}`}`}>{answer => <Table {...answer} />}</Part>
    </>
  )
}

function Table({ privileges, rightCount, rights }: RightsAnswer) {
  return (
    <>
      <p>
        {text('privileges')}:{' '}
        {privileges.length === 0
          ? text('none')
          : privileges.map(({ privilege, by }) => (
              <span key={privilege} class="chip">
                {privilege}
                {by !== undefined && <small> {text('includedIn', { name: by })}</small>}
              </span>
            ))}
      </p>
      <p class="hint">{text('rightsHint')}</p>
      <List
        title={text('rights')}
        rows={rights}
        count={rightCount}
        idOf={({ type, name }) => `${type} ${name}`}
        searched={({ name }) => name}
        columns={[
          {
            title: text('resource'),
            show: ({ type, name }) => (
              <span class={type === 'dataclass' ? undefined : 'nested'}>
                {name} <small>{type === 'dataclass' ? '' : type}</small>
              </span>
            ),
          },
          ...ACTIONS.map(action => ({
            title: text(action),
            show: (right: Right) => right[action] && <Reason verdict={right[action]} of={right.name} />,
          })),
        ]}
      />
    </>
  )
}

function Reason({ verdict: { allowed, setting, needed = [], by }, of }: { verdict: Verdict; of: string }) {
  const from = setting === undefined || setting === of ? '' : text('settingOf', { name: setting })
  const reason =
    by !== undefined ? text('by', { name: by }) : needed.length > 0 ? text('needs', { names: needed.join(', ') }) : ''
  return (
    <span class={allowed ? 'allowed' : 'denied'}>
      <b>{text(allowed ? 'allowed' : 'denied')}</b>
      <small>{setting === undefined ? text('noSetting') : [reason, from].filter(Boolean).join(' · ')}</small>
    </span>
  )
}
