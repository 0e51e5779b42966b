/** "Add Scan Breakpoint...": where to stop, then when; two steps, and Enter twice for the simplest one. */
import * as vscode from 'vscode';
import {
  BOUNDARIES,
  parseBreakpointName,
  parseHitCondition,
  parseLogMessage,
} from '../protocol/breakpointSpec';
import { SITES_REQUEST, type SitesResponse } from '../protocol/requests';
import { askText, BACK, pick } from './ask';
import {
  BOUNDARY_CHOICES,
  type BreakpointForm,
  emptyForm,
  exampleCondition,
  formName,
  formResult,
  layerCondition,
  placeOf,
} from './breakpointForm';
import { conditionHint } from './conditionHint';
import type { SessionWatcher } from './sessions';

const TITLE = 'Add Scan Breakpoint';

/** A running model's answer is waited for this long; the form works without it. */
const PATIENCE = 1500;

/** Asks and adds the breakpoint; nothing happens when the person turns away. */
export async function addScanBreakpoint(watcher: SessionWatcher): Promise<void> {
  const sites = await sitesOf(watcher);
  for (;;) {
    const form = await askPlace(sites);
    if (!form) return;
    const done = await askDetails(form, sites);
    if (done === undefined) return;
    if (done !== BACK) return add(done);
  }
}

async function sitesOf(watcher: SessionWatcher): Promise<SitesResponse | undefined> {
  const session = watcher.current?.session;
  if (!session) return undefined;
  const late = new Promise<undefined>((resolve) => setTimeout(resolve, PATIENCE));
  const asked = Promise.resolve(session.customRequest(SITES_REQUEST)).catch(() => undefined);
  const reply = (await Promise.race([asked, late])) as Partial<SitesResponse> | undefined;
  return Array.isArray(reply?.modules) && Array.isArray(reply.boundaries)
    ? (reply as SitesResponse)
    : undefined;
}

type PlaceItem = vscode.QuickPickItem & { form?: BreakpointForm };

async function askPlace(sites: SitesResponse | undefined): Promise<BreakpointForm | undefined> {
  const picked = await pick<PlaceItem>({
    title: TITLE,
    step: 1,
    totalSteps: 2,
    placeholder:
      'Where? Choose a boundary, or type a module path such as layers.3.mixer or layers.*.norm:exit',
    items: placeItems(sites),
    typed: typedPlace,
  });
  return picked === BACK ? undefined : picked?.form;
}

function placeItems(sites: SitesResponse | undefined): PlaceItem[] {
  const known = sites?.boundaries ?? BOUNDARIES;
  const boundaries = BOUNDARY_CHOICES.filter(({ boundary }) => known.includes(boundary)).map(
    ({ boundary, phase, about }): PlaceItem => ({
      label: `$(debug-breakpoint-function) ${formName({ place: { name: boundary }, phase })}`,
      description: about,
      form: emptyForm({ name: boundary, boundary }, phase),
    }),
  );
  const modules = (sites?.modules ?? [])
    .filter(Boolean)
    .map(
      (path): PlaceItem => ({ label: `$(symbol-module) ${path}`, form: emptyForm({ name: path }, 'entry') }),
    );
  if (modules.length === 0) return boundaries;
  return [...boundaries, { label: 'Modules', kind: vscode.QuickPickItemKind.Separator }, ...modules];
}

function gradientPlace(text: string, glob: string): PlaceItem {
  return {
    label: `$(edit) ${text}`,
    description: 'Gradient of every parameter that this name or pattern means',
    form: emptyForm(placeOf(`grad:${glob}`), 'entry'),
    alwaysShow: true,
  };
}

function typedPlace(text: string): PlaceItem | undefined {
  try {
    const target = parseBreakpointName(text);
    if (target.kind === 'gradient') return gradientPlace(text, target.glob);
    const name = target.kind === 'boundary' ? target.boundary : target.glob;
    return {
      label: `$(edit) ${text}`,
      description: target.kind === 'boundary' ? 'Boundary' : 'Every module that this path or pattern names',
      form: emptyForm(placeOf(name), target.phase),
      alwaysShow: true,
    };
  } catch {
    return undefined;
  }
}

type DetailItem = vscode.QuickPickItem & { edit?: (form: BreakpointForm) => Promise<Edited> };
type Edited = Partial<BreakpointForm> | undefined;

async function askDetails(
  start: BreakpointForm,
  sites: SitesResponse | undefined,
): Promise<BreakpointForm | typeof BACK | undefined> {
  let form = start;
  for (;;) {
    const items = detailItems(form, sites);
    const picked = await pick<DetailItem>({
      title: TITLE,
      step: 2,
      totalSteps: 2,
      placeholder: 'When? Press Enter to add it as it is, or choose what to change',
      items,
      active: items[0],
    });
    if (picked === undefined || picked === BACK) return picked;
    if (!picked.edit) return form;
    form = { ...form, ...(await picked.edit(form)) };
  }
}

function detailItems(form: BreakpointForm, sites: SitesResponse | undefined): DetailItem[] {
  const { text, condition, hitCondition } = formResult(form);
  const summary = [condition && `when ${condition}`, hitCondition && `hit ${hitCondition}`]
    .filter(Boolean)
    .join(', ');
  const items: DetailItem[] = [
    { label: `$(check) Add ${text}`, description: summary || 'every time' },
    { label: 'Options', kind: vscode.QuickPickItemKind.Separator },
  ];
  if (form.place.boundary) {
    items.push(
      {
        label: '$(layers) Layer',
        description: form.layers || 'every layer',
        edit: (f) => editLayers(f, sites),
      },
      { label: '$(arrow-both) Direction', description: form.direction, edit: editDirection },
    );
  } else items.push({ label: '$(arrow-swap) Moment', description: form.phase, edit: editPhase });
  items.push(
    {
      label: '$(filter) Condition',
      description: form.condition || 'none',
      edit: (f) => editCondition(f, sites),
    },
    { label: '$(list-ordered) Hit count', description: form.hitCondition || 'every hit', edit: editHits },
    { label: '$(output) Log message', description: form.logMessage || 'none: stops instead', edit: editLog },
  );
  return items;
}

async function editText(
  key: 'layers' | 'condition' | 'hitCondition' | 'logMessage',
  form: BreakpointForm,
  prompt: string,
  placeholder: string,
  check: (text: string) => string | undefined,
): Promise<Edited> {
  const title = `${TITLE}: ${formName(form)}`;
  const text = await askText({ title, step: 2, totalSteps: 2, prompt, placeholder, value: form[key], check });
  return typeof text === 'string' ? { [key]: text.trim() } : undefined;
}

function editLayers(form: BreakpointForm, sites: SitesResponse | undefined): Promise<Edited> {
  const range = sites ? `, 0 to ${sites.layers - 1}` : '';
  const prompt = `In which layers${range}? Empty for every layer.`;
  return editText('layers', form, prompt, '3, 3-5, >= 12, or several with commas', (text) =>
    sentence(() => layerCondition(text)),
  );
}

async function editDirection(form: BreakpointForm): Promise<Edited> {
  const items = [
    { label: 'both', description: 'Each scan, in whichever direction it reads the tokens' },
    { label: 'forward', description: 'First token to last' },
    { label: 'backward', description: 'Last token to first' },
  ];
  const active = items.find((item) => item.label === form.direction);
  const picked = await pick({
    title: TITLE,
    step: 2,
    totalSteps: 2,
    placeholder: 'Which direction of the scan?',
    items,
    active,
  });
  return picked && picked !== BACK ? { direction: picked.label as BreakpointForm['direction'] } : undefined;
}

async function editPhase(form: BreakpointForm): Promise<Edited> {
  const items = [
    { label: 'entry', description: 'Before the module runs: its inputs are known' },
    { label: 'exit', description: 'After the module ran: its outputs are known' },
  ];
  const active = items.find((item) => item.label === form.phase);
  const picked = await pick({
    title: TITLE,
    step: 2,
    totalSteps: 2,
    placeholder: 'Before or after the module?',
    items,
    active,
  });
  return picked && picked !== BACK ? { phase: picked.label as 'entry' | 'exit' } : undefined;
}

function editCondition(form: BreakpointForm, sites: SitesResponse | undefined): Promise<Edited> {
  const names = (form.place.boundary && sites?.names[form.place.boundary]) ?? [];
  const known = names.length > 0 ? `Known: ${names.join(', ')}, layer, direction, t. ` : '';
  const prompt = `${known}Statistics: .max() .min() .mean() .std() .absmax(), nan(x); combine with and, or, not.`;
  // Outputs and steps have names that the list of inputs does not hold.
  const strict = form.phase === 'entry' ? names : [];
  return editText('condition', form, prompt, exampleCondition(form.place, form.phase), (text) =>
    conditionHint(text, strict),
  );
}

function editHits(form: BreakpointForm): Promise<Edited> {
  const prompt = 'At which hits? 5 is the fifth only, >= 5 from the fifth on, % 10 every tenth.';
  return editText('hitCondition', form, prompt, '5, >= 5 or % 10', (text) =>
    text.trim() ? sentence(() => parseHitCondition(text)) : undefined,
  );
}

function editLog(form: BreakpointForm): Promise<Edited> {
  const prompt = 'Write this line instead of stopping; expressions in braces. Empty to stop.';
  return editText('logMessage', form, prompt, 'layer {layer}: delta up to {delta.max()}', (text) =>
    sentence(() => parseLogMessage(text)),
  );
}

/** The message of what `parse` throws, if it does. */
function sentence(parse: () => unknown): string | undefined {
  try {
    parse();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function add(form: BreakpointForm): void {
  const { text, condition, hitCondition } = formResult(form);
  vscode.debug.addBreakpoints([new vscode.FunctionBreakpoint(text, true, condition, hitCondition)]);
  const message = `Breakpoint added: ${text}${condition ? ` when ${condition}` : ''}.`;
  void vscode.window.showInformationMessage(message, 'Show Breakpoints').then((action) => {
    if (action) void vscode.commands.executeCommand('workbench.debug.action.focusBreakpointsView');
  });
}
