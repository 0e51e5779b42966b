/** Buttons, fields and the like. The only file that knows which toolkit they come from. */
import {
  provideVSCodeDesignSystem,
  vsCodeButton,
  vsCodeCheckbox,
  vsCodeDropdown,
  vsCodeOption,
  vsCodeProgressRing,
  vsCodeTextField,
} from '@vscode/webview-ui-toolkit';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { ClearIcon, SearchIcon } from './icons';

/** Defines the custom elements; call once before the first render. */
export function registerControls(): void {
  provideVSCodeDesignSystem().register(
    vsCodeButton(),
    vsCodeCheckbox(),
    vsCodeDropdown(),
    vsCodeOption(),
    vsCodeProgressRing(),
    vsCodeTextField(),
  );
}

interface ButtonProps {
  children: ComponentChildren;
  onClick: () => void;
  secondary?: boolean;
  disabled?: boolean;
}

export function Button({ children, onClick, secondary, disabled }: ButtonProps) {
  return (
    <vscode-button appearance={secondary ? 'secondary' : 'primary'} disabled={disabled} onClick={onClick}>
      {children}
    </vscode-button>
  );
}

interface IconButtonProps {
  children: ComponentChildren;
  /** What it does: tooltip and name for screen readers. */
  label: string;
  onClick: () => void;
  disabled?: boolean;
}

export function IconButton({ children, label, onClick, disabled }: IconButtonProps) {
  return (
    <vscode-button appearance="icon" title={label} aria-label={label} disabled={disabled} onClick={onClick}>
      {children}
    </vscode-button>
  );
}

interface SearchProps {
  value: string;
  placeholder: string;
  onChange: (value: string) => void;
  /** Gives the parent a way to move the focus here. */
  focusRef?: { current: (() => void) | undefined };
  /** Enter or arrow down: go on to the results. */
  onLeave: () => void;
}

export function SearchField({ value, placeholder, onChange, focusRef, onLeave }: SearchProps) {
  const field = useRef<HTMLElement & { value: string; select(): void }>(null);
  useLayoutEffect(() => {
    if (focusRef) focusRef.current = () => field.current?.focus();
  }, [focusRef]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && value) onChange('');
    else if (['Escape', 'Enter', 'ArrowDown'].includes(event.key)) onLeave();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <vscode-text-field
      ref={field}
      class="search"
      value={value}
      placeholder={placeholder}
      aria-label={placeholder}
      onInput={(event) => onChange((event.currentTarget as HTMLInputElement).value)}
      onKeyDown={onKeyDown}
    >
      <span slot="start">
        <SearchIcon />
      </span>
      {value && (
        <button
          slot="end"
          type="button"
          class="clear"
          aria-label="Clear the search"
          onClick={() => onChange('')}
        >
          <ClearIcon />
        </button>
      )}
    </vscode-text-field>
  );
}

export interface Choice<V extends string> {
  value: V;
  label: string;
}

interface SelectProps<V extends string> {
  label: string;
  value: V;
  choices: readonly Choice<V>[];
  onChange: (value: V) => void;
}

export function Select<V extends string>({ label, value, choices, onChange }: SelectProps<V>) {
  return (
    <vscode-dropdown
      key={choices.map((choice) => choice.value).join()}
      class="select"
      value={value}
      title={label}
      aria-label={label}
      onChange={(event) => {
        const next = (event.currentTarget as HTMLSelectElement).value as V;
        if (next !== value && choices.some((choice) => choice.value === next)) onChange(next);
      }}
    >
      {choices.map((choice) => (
        <vscode-option key={choice.value} value={choice.value}>
          {choice.label}
        </vscode-option>
      ))}
    </vscode-dropdown>
  );
}

interface CheckboxProps {
  checked: boolean;
  children: ComponentChildren;
  onChange: (checked: boolean) => void;
}

export function Checkbox({ checked, children, onChange }: CheckboxProps) {
  return (
    <vscode-checkbox
      checked={checked}
      onChange={(event) => {
        const next = (event.currentTarget as HTMLInputElement).checked;
        if (next !== checked) onChange(next);
      }}
    >
      {children}
    </vscode-checkbox>
  );
}

/** A row of choices of which one holds, as small as a toolbar. */
export function Segments<V extends string>({ label, value, choices, onChange }: SelectProps<V>) {
  return (
    <fieldset class="segments" aria-label={label}>
      {choices.map((choice) => (
        <button
          key={choice.value}
          type="button"
          aria-pressed={choice.value === value}
          onClick={() => choice.value !== value && onChange(choice.value)}
        >
          {choice.label}
        </button>
      ))}
    </fieldset>
  );
}

export function Spinner({ label }: { label: string }) {
  return (
    <div class="spinner" role="status">
      <vscode-progress-ring />
      <span>{label}</span>
    </div>
  );
}
