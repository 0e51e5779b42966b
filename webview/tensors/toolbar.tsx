import type { TensorEntry } from '../../src/protocol/requests';
import type { TensorScope } from '../../src/protocol/webview';
import { type Choice, SearchField, Segments, Select } from '../ui/controls';
import { countRoles, type RoleGroup, type SortKey } from './listing';
import type { View } from './model';

const SCOPES: readonly Choice<TensorScope>[] = [
  { value: 'site', label: 'This site' },
  { value: 'run', label: 'Whole run' },
];

const SORTS: readonly Choice<SortKey>[] = [
  { value: 'site', label: 'In order' },
  { value: 'name', label: 'By name' },
  { value: 'absmax', label: 'By absmax' },
  { value: 'nan', label: 'By NaN' },
  { value: 'size', label: 'By size' },
];

interface ToolbarProps {
  view: View;
  entries: readonly TensorEntry[];
  focusRef: { current: (() => void) | undefined };
  onChange: (change: Partial<View>) => void;
  onScope: (scope: TensorScope) => void;
  onRole: (group: RoleGroup) => void;
  onLeave: () => void;
}

/** Search, scope, order and the filter by role. */
export function Toolbar({ view, entries, focusRef, onChange, onScope, onRole, onLeave }: ToolbarProps) {
  const roles = countRoles(entries);
  return (
    <div class="toolbar">
      <SearchField
        value={view.query}
        placeholder="Search names, sites, axes, nan ( / )"
        focusRef={focusRef}
        onChange={(query) => onChange({ query })}
        onLeave={onLeave}
      />
      <div class="tools">
        <Segments label="Which tensors" value={view.scope} choices={SCOPES} onChange={onScope} />
        <Select label="Order" value={view.sort} choices={SORTS} onChange={(sort) => onChange({ sort })} />
      </div>
      {roles.length > 1 && (
        <div class="chips">
          {roles.map(({ group, short, count }) => (
            <button
              key={group}
              type="button"
              class="chip"
              aria-pressed={!view.hidden.includes(group)}
              title={`${view.hidden.includes(group) ? 'Show' : 'Hide'} ${short}`}
              onClick={() => onRole(group)}
            >
              {short} <b>{count}</b>
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
