/** The toolkit's custom elements, as far as `controls.tsx` uses them. */
import type { HTMLAttributes } from 'preact';

interface VscodeButton extends HTMLAttributes<HTMLElement> {
  appearance?: 'primary' | 'secondary' | 'icon';
  disabled?: boolean;
}

interface VscodeTextField extends HTMLAttributes<HTMLElement> {
  value?: string;
  placeholder?: string;
}

interface VscodeDropdown extends HTMLAttributes<HTMLElement> {
  value?: string;
  disabled?: boolean;
}

interface VscodeOption extends HTMLAttributes<HTMLElement> {
  value?: string;
}

interface VscodeCheckbox extends HTMLAttributes<HTMLElement> {
  checked?: boolean;
}

declare module 'preact' {
  namespace JSX {
    interface IntrinsicElements {
      'vscode-button': VscodeButton;
      'vscode-text-field': VscodeTextField;
      'vscode-dropdown': VscodeDropdown;
      'vscode-option': VscodeOption;
      'vscode-checkbox': VscodeCheckbox;
      'vscode-progress-ring': HTMLAttributes<HTMLElement>;
    }
  }
}
