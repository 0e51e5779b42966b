/** Sixteen-pixel icons drawn in the text's colour. */
import type { ComponentChildren } from 'preact';

function Icon({ children }: { children: ComponentChildren }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      {children}
    </svg>
  );
}

const stroke = {
  fill: 'none',
  stroke: 'currentColor',
  'stroke-width': 1.2,
  'stroke-linecap': 'round',
} as const;

export const SearchIcon = () => (
  <Icon>
    <circle cx="7" cy="7" r="4" {...stroke} />
    <path d="M10 10l3.5 3.5" {...stroke} />
  </Icon>
);

export const ClearIcon = () => (
  <Icon>
    <path d="M4.5 4.5l7 7m0-7l-7 7" {...stroke} />
  </Icon>
);

export const BackIcon = () => (
  <Icon>
    <path d="M9.5 3.5L5 8l4.5 4.5" {...stroke} />
  </Icon>
);

export const NextIcon = () => (
  <Icon>
    <path d="M6.5 3.5L11 8l-4.5 4.5" {...stroke} />
  </Icon>
);

export const ChevronIcon = () => (
  <Icon>
    <path d="M4 6.2L8 10l4-3.8" {...stroke} />
  </Icon>
);

export const PinIcon = () => (
  <Icon>
    <path d="M6 2.5h4m-3.4 0v4L4.5 9h7L9.4 6.5v-4M8 9v4.5" {...stroke} stroke-linejoin="round" />
  </Icon>
);

export const PinnedIcon = () => (
  <Icon>
    <path
      d="M6 2.5h4m-3.4 0v4L4.5 9h7L9.4 6.5v-4M8 9v4.5"
      {...stroke}
      fill="currentColor"
      stroke-linejoin="round"
    />
  </Icon>
);

export const CopyIcon = () => (
  <Icon>
    <rect x="5.5" y="5.5" width="7.5" height="8" rx="1" {...stroke} />
    <path d="M10.5 3.5V3a1 1 0 0 0-1-1H4a1 1 0 0 0-1 1v7a1 1 0 0 0 1 1h.5" {...stroke} />
  </Icon>
);

export const SwapIcon = () => (
  <Icon>
    <path
      d="M3 5.5h9.5M10 3l2.5 2.5L10 8M13 10.5H3.5M6 8l-2.5 2.5L6 13"
      {...stroke}
      stroke-linejoin="round"
    />
  </Icon>
);

/** A tensor that is not finite: a filled sign, so that it is seen without its colour too. */
export const AlertIcon = () => (
  <Icon>
    <path d="M8 2.2l6.2 11.1H1.8z" fill="currentColor" stroke="currentColor" stroke-linejoin="round" />
    <path d="M8 6.2v3.4" class="icon-hole" stroke-width="1.5" stroke-linecap="round" />
    <circle cx="8" cy="11.6" r=".9" class="icon-hole-dot" />
  </Icon>
);
