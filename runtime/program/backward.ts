import { contiguousLayout, type Layout, numel } from '../tensor/tensor';
import { GradientFlow } from './gradientFlow';
import { type Named, type Op, type OpKind, shapeText } from './op';
import { gradientOf, seedOf, sumOf } from './ops/gradients';
import { type Event, Program } from './program';
import type { Scope } from './scope';
import { Value } from './value';

/**
 * The backward pass of a program: from the gradient of `loss` (one element of the program, usually a
 * cross-entropy) to those of all parameters and inputs. Its ops run in reverse order in the scopes of the forward
 * pass; each says in `forward` whose gradient it computes. Values and storages go on where those of `program`
 * end, so that one execution holds both.
 */
export function deriveBackward(program: Program, loss: Value): Program {
  if (numel(loss.shape) !== 1)
    throw new Error(`Gradients start from one number, but ${loss.name} is ${shapeText(loss.shape)}.`);
  return new Derivation(program, loss).derive();
}

/** The forward pass and then the backward pass, as one program with the outputs of the forward pass. */
export function trainingStep(program: Program, loss: Value): Program {
  const backward = deriveBackward(program, loss);
  return new Program(
    program.name,
    [...program.events, ...backward.events],
    backward.values,
    program.parameters,
    program.inputs,
    program.outputs,
    backward.storageSizes,
    backward.gradients,
  );
}

/** What one use of a value adds to its gradient, and where in the storage of the value it belongs. */
interface Part {
  readonly gradient: Value;
  readonly place: Layout;
}

class Derivation {
  private readonly flow: GradientFlow;
  private readonly events: Event[] = [];
  private readonly values: Value[];
  private readonly storageSizes: number[];
  private ops: number;
  /** Per storage of the forward pass: what its uses have added so far. */
  private readonly parts = new Map<number, Part[]>();
  /** Per storage of the forward pass: the complete gradient of its owner. */
  private readonly complete = new Map<number, Value>();

  constructor(
    private readonly program: Program,
    private readonly loss: Value,
  ) {
    this.flow = new GradientFlow(program, loss);
    if (this.flow.isEmpty)
      throw new Error(`${loss.name} depends on no parameter and no input, so there are no gradients.`);
    this.values = [...program.values];
    this.storageSizes = [...program.storageSizes];
    this.ops = program.ops.length;
  }

  derive(): Program {
    for (const event of this.program.events.toReversed()) {
      if (event.kind === 'op') this.differentiate(event.op);
      else if (event.kind === 'exit')
        this.events.push({ kind: 'enter', scope: event.scope, pass: 'backward' });
      else this.leave(event.scope);
    }
    const { name, parameters, inputs } = this.program;
    const gradients = this.gradients();
    const outputs = Object.fromEntries(gradients);
    return new Program(
      name,
      this.events,
      this.values,
      parameters,
      inputs,
      outputs,
      this.storageSizes,
      gradients,
    );
  }

  /** Ends a scope; one that no gradient passes is left out. */
  private leave(scope: Scope): void {
    const last = this.events.at(-1);
    if (last?.kind === 'enter' && last.scope === scope) this.events.pop();
    else this.events.push({ kind: 'exit', scope, pass: 'backward' });
  }

  private differentiate(op: Op): void {
    if (!this.flow.passes(op)) return;
    if (Object.values(op.outputs).some((y) => y.storage === this.loss.storage)) this.seed(op);
    const inputs = this.flow.inputs(op).filter(([role, value]) => !this.passOn(op, role, value));
    if (inputs.length > 0) this.derivePart(op, inputs);
    for (const storage of this.flow.completedBy(op)) this.completeStorage(storage, op);
  }

  /** Where dy is the gradient of an input as it is, takes it so. */
  private passOn(op: Op, role: string, value: Value): boolean {
    const { y } = op.outputs;
    if (!op.kind.backward?.passes?.includes(role) || shapeText(value.shape) !== shapeText(y.shape))
      return false;
    this.addPart(value, this.gradientOf(y));
    return true;
  }

  private derivePart(op: Op, inputs: readonly [role: string, value: Value][]): void {
    const outputs = this.append(op, gradientOf(op, inputs), this.readBy(op), (role) => {
      return this.newPart(op.inputs[role.slice(1)], op);
    });
    for (const [role, value] of inputs) this.addPart(value, outputs[`d${role}`]);
  }

  private seed(op: Op): void {
    const { dy } = this.append(op, seedOf(this.loss), {}, () => this.newPart(this.loss, op));
    this.addPart(this.loss, dy);
    this.completeStorage(this.loss.storage, op);
  }

  /** What the gradient of an op is computed from: tensors of the forward pass and the outputs' gradients. */
  private readBy(op: Op): Named<Value> {
    const inputs: Record<string, Value> = {};
    const roles = { ...op.inputs, ...op.outputs };
    for (const role of op.kind.backward!.reads ?? []) if (roles[role]) inputs[role] = roles[role];
    for (const [role, value] of Object.entries(op.outputs)) {
      if (this.complete.has(value.storage)) inputs[`d${role}`] = this.gradientOf(value);
    }
    return inputs;
  }

  /** The gradient of a value, seen in its storage's gradient as the value is seen in its storage. */
  private gradientOf(value: Value): Value {
    const whole = this.complete.get(value.storage)!;
    if (value === this.flow.owner(value.storage)) return whole;
    return this.newValue(value, gradientName(value), whole.storage, value.layout);
  }

  private addPart(value: Value, gradient: Value): void {
    const parts = this.parts.get(value.storage) ?? [];
    this.parts.set(value.storage, [...parts, { gradient, place: value.layout }]);
  }

  /** Room for what one use adds. One that covers its storage lies in it as the value does in its own. */
  private newPart(value: Value, use: Op): Value {
    const layout = this.flow.coversStorage(value) ? value.layout : contiguousLayout(value.shape);
    const name = gradientName(value);
    return this.newValue(
      value,
      this.flow.isWhole(value) ? name : `${name} by ${use.name}`,
      this.newStorage(numel(value.shape)),
      layout,
    );
  }

  private completeStorage(storage: number, op: Op): void {
    const owner = this.flow.owner(storage);
    const parts = this.parts.get(storage)!;
    this.complete.set(storage, this.only(owner, parts) ?? this.sum(owner, parts, op));
  }

  /** The one part that is the whole gradient, if it is so. */
  private only(owner: Value, parts: readonly Part[]): Value | undefined {
    const [{ gradient, place }] = parts;
    if (parts.length > 1 || numel(place.shape) !== this.storageSizes[owner.storage]) return undefined;
    if (!sameLayout(gradient, place)) return undefined;
    if (place === owner.layout && gradient.name === gradientName(owner)) return gradient;
    return this.newValue(owner, gradientName(owner), gradient.storage, owner.layout);
  }

  private sum(owner: Value, parts: readonly Part[], op: Op): Value {
    const kind = sumOf(
      owner,
      parts.map((p) => p.place),
    );
    const inputs = Object.fromEntries(parts.map((p, i) => [`part${i}`, p.gradient]));
    return this.append(op, kind, inputs, () =>
      this.newValue(
        owner,
        gradientName(owner),
        this.newStorage(this.storageSizes[owner.storage]),
        owner.layout,
      ),
    ).sum;
  }

  private append(
    forward: Op,
    kind: OpKind,
    inputs: Named<Value>,
    output: (role: string) => Value,
  ): Named<Value> {
    const roles = Object.keys(kind.infer(inputs, forward.attributes));
    const outputs = Object.fromEntries(roles.map((role) => [role, output(role)]));
    const op: Op = { ...forward, index: this.ops++, kind, inputs, outputs, pass: 'backward', forward };
    this.events.push({ kind: 'op', op, scope: forward.scope, pass: 'backward' });
    return outputs;
  }

  private newStorage(size: number): number {
    return this.storageSizes.push(size) - 1;
  }

  private newValue(of: Value, name: string, storage: number, layout: Layout): Value {
    const value = new Value(this.values.length, name, 'op', storage, layout, of.axes);
    this.values.push(value);
    return value;
  }

  private gradients(): Map<string, Value> {
    const { parameters, inputs } = this.program;
    const named: [string, Value][] = [
      ...parameters.map((p): [string, Value] => [p.name, p.value]),
      ...Object.entries(inputs),
    ];
    return new Map(
      named.flatMap(([name, { storage }]) => {
        const gradient = this.complete.get(storage);
        return gradient ? [[name, gradient]] : [];
      }),
    );
  }
}

function sameLayout(a: Layout, b: Layout): boolean {
  return (
    a.offset === b.offset &&
    shapeText(a.shape) === shapeText(b.shape) &&
    shapeText(a.strides) === shapeText(b.strides)
  );
}

function gradientName(value: Value): string {
  return `grad of ${value.name}`;
}
