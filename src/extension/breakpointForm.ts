/** What the form "Add Scan Breakpoint" collects, and the breakpoint that comes of it. No vscode. */
import { BOUNDARIES, type Boundary, formatBreakpointText, type Phase } from '../protocol/breakpointSpec';

/** Where to stop: a boundary, or a module path with globs. */
export interface Place {
  name: string;
  boundary?: Boundary;
}

export interface BreakpointForm {
  place: Place;
  phase: Phase;
  /** As written: `3`, `3-5`, `>= 12`, `0, 5`; empty for every layer. */
  layers: string;
  direction: 'both' | 'forward' | 'backward';
  condition: string;
  hitCondition: string;
  logMessage: string;
}

export function emptyForm(place: Place, phase: Phase): BreakpointForm {
  return { place, phase, layers: '', direction: 'both', condition: '', hitCondition: '', logMessage: '' };
}

/** The places of the form's first step, each with what is known there. */
export const BOUNDARY_CHOICES: readonly { boundary: Boundary; phase: Phase; about: string }[] = [
  { boundary: 'selective_scan', phase: 'entry', about: 'u, delta, A, B, C, D and z are known' },
  { boundary: 'selective_scan', phase: 'exit', about: 'y is known too' },
  { boundary: 'selective_scan', phase: 'step', about: 'after each time step: h and the step of every input' },
  { boundary: 'causal_conv1d', phase: 'entry', about: 'the input and the kernel are known' },
  { boundary: 'causal_conv1d', phase: 'exit', about: 'the output is known too' },
];

/** `selective_scan`, `selective_scan:step`, `layers.3.mixer:exit` */
export function formName({ place, phase }: Pick<BreakpointForm, 'place' | 'phase'>): string {
  return phase === 'entry' ? place.name : `${place.name}:${phase}`;
}

/** A typed place: a boundary's own name counts as the boundary. */
export function placeOf(name: string): Place {
  return { name, boundary: BOUNDARIES.find((boundary) => boundary === name) };
}

export interface FormResult {
  /** Name and, where there is one, log message: the editor has no field of its own for it. */
  text: string;
  condition?: string;
  hitCondition?: string;
}

export function formResult(form: BreakpointForm): FormResult {
  const condition = formCondition(form);
  return {
    text: formatBreakpointText(formName(form), form.logMessage.trim() || undefined),
    ...(condition ? { condition } : {}),
    ...(form.hitCondition.trim() ? { hitCondition: form.hitCondition.trim() } : {}),
  };
}

/** Layer, direction and the person's own condition as one expression. */
export function formCondition({ place, layers, direction, condition }: BreakpointForm): string {
  const own = condition.trim();
  const parts: string[] = [];
  if (place.boundary) {
    const layer = layerCondition(layers);
    if (layer) parts.push(layer);
    if (direction !== 'both') parts.push(`direction == "${direction}"`);
  }
  if (own) parts.push(parts.length > 0 && /\bor\b|\bif\b/.test(own) ? `(${own})` : own);
  return parts.join(' and ');
}

const LAYER_PART = /^(?:(\d+)|(\d+)\s*-\s*(\d+)|(>=|<=|>|<)\s*(\d+))$/;

/** `0, 5` -> `(layer == 0 or layer == 5)`; empty for every layer. Throws an `Error` in one sentence. */
export function layerCondition(layers: string): string {
  const parts = layers
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);
  const conditions = parts.map((part) => {
    const [, one, from, to, compare, bound] = LAYER_PART.exec(part) ?? [];
    if (one) return `layer == ${one}`;
    if (from) return `layer >= ${from} and layer <= ${to}`;
    if (compare) return `layer ${compare} ${bound}`;
    throw new Error(`"${part}" is not a layer; write e.g. 3, 3-5, >= 12, or several with commas.`);
  });
  return conditions.length > 1 ? `(${conditions.join(' or ')})` : (conditions[0] ?? '');
}

/** A condition to start from, fitting the place. */
export function exampleCondition(place: Place, phase: Phase): string {
  if (place.boundary === 'selective_scan') {
    if (phase === 'step') return 't == 57 and h.absmax() > 10';
    return phase === 'exit' ? 'nan(y) > 0' : 'delta.max() > 0.1';
  }
  return phase === 'exit' ? 'output.absmax() > 100' : 'x.std() > 5';
}
