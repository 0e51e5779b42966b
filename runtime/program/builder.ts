import type { Direction } from '../../src/protocol/site';
import { contiguousLayout, numel } from '../tensor/tensor';
import { type Attributes, type Named, type Op, type OpKind, ShapeError } from './op';
import { type Event, type Parameter, Program } from './program';
import type { Scope } from './scope';
import { captureStack, innermost, type Trace, traceOf } from './source';
import { type Origin, Value } from './value';

/** What a module's body may give back: one tensor, or several by name. */
export type Outputs = Value | Named<Value>;

/** Tensors by name; absent ones are left out. */
export type Given = { readonly [name: string]: Value | undefined };

/**
 * Records a model as a program while its function runs once. Knows scopes, parameters and how to append an op;
 * the ops themselves are methods of `ModelBuilder`.
 */
export class Builder {
  private readonly events: Event[] = [];
  private readonly values: Value[] = [];
  private readonly parameters = new Map<string, Parameter>();
  private readonly inputs: Record<string, Value> = {};
  private readonly storageSizes: number[] = [];
  private readonly calls = new Map<string, number>();
  private readonly starts: number[] = [];
  private scopes = 0;
  private ops = 0;
  private scope!: Scope;
  private heading?: Direction;

  /**
   * Builds a program: `body` is the model. Throws a `ShapeError` that names the module, both shapes and the
   * source line when something does not fit.
   */
  build(name: string, kind: string, body: () => Outputs): Program {
    this.run('', kind, {}, body, captureStack().length);
    const outputs = this.scope.outputs;
    return new Program(
      name,
      this.events,
      this.values,
      [...this.parameters.values()],
      this.inputs,
      outputs,
      this.storageSizes,
    );
  }

  /** A tensor that the person gives. */
  input(name: string, shape: readonly number[], axes: readonly string[] = []): Value {
    const value = this.newValue(name, 'input', shape, axes);
    this.inputs[name] = value;
    return value;
  }

  /** A parameter of the current module; asking again gives the same one. */
  parameter(name: string, shape: readonly number[], axes: readonly string[] = []): Value {
    return this.declare(join(this.scope.path, name), shape, axes);
  }

  /** A constant that checkpoints may or may not hold under this name. */
  buffer(name: string, shape: readonly number[], fallback: Float32Array): Value {
    return this.declare(join(this.scope.path, name), shape, [], fallback);
  }

  /** Runs `body` as a module: one level of the path and of the call stack. */
  module<T extends Outputs>(name: string, kind: string, inputs: Given, body: () => T): T {
    const outer = this.scope;
    const result = this.run(join(outer.path, name), kind, present(inputs), body, captureStack().length);
    this.scope = outer;
    return result;
  }

  /** Runs `body` with everything in it marked as one direction of the sequence. */
  direction<T>(direction: Direction, body: () => T): T {
    const outer = this.heading;
    this.heading = direction;
    try {
      return body();
    } finally {
      this.heading = outer;
    }
  }

  private run<T extends Outputs>(
    path: string,
    kind: string,
    inputs: Named<Value>,
    body: () => T,
    depth: number,
  ): T {
    const parent = this.scope as Scope | undefined;
    const scope: Scope = {
      serial: this.scopes++,
      path,
      kind,
      parent,
      depth: parent ? parent.depth + 1 : 0,
      direction: this.heading,
      inputs,
      outputs: {},
      trace: parent ? this.trace() : [],
    };
    this.scope = scope;
    this.starts.push(depth);
    this.events.push({ kind: 'enter', scope });
    const result = body();
    scope.outputs = result instanceof Value ? { output: result } : result;
    this.events.push({ kind: 'exit', scope });
    this.starts.pop();
    return result;
  }

  private trace(): Trace {
    return traceOf(captureStack(), this.starts);
  }

  private declare(
    name: string,
    shape: readonly number[],
    axes: readonly string[],
    fallback?: Float32Array,
  ): Value {
    const known = this.parameters.get(name);
    if (known) return known.value;
    const value = this.newValue(name, 'parameter', shape, axes);
    this.parameters.set(name, { name, value, fallback });
    return value;
  }

  private newValue(
    name: string,
    origin: Origin,
    shape: readonly number[],
    axes: readonly string[] = [],
  ): Value {
    const storage = this.storageSizes.push(numel(shape)) - 1;
    const value = new Value(this.values.length, name, origin, storage, contiguousLayout(shape), axes);
    this.values.push(value);
    return value;
  }

  /** Appends an op. `layer` is the name of the layer whose parameters it uses, if it is one. */
  protected op(kind: OpKind, inputs: Given, attributes: Attributes = {}, layer?: string): Named<Value> {
    const trace = this.trace();
    const given = present(inputs);
    const module = layer ? join(this.scope.path, layer) : this.scope.path;
    const shapes = this.infer(kind, given, attributes, module, trace);
    const direction = this.heading;
    const key = `${module}:${kind.name} ${direction}`;
    const occurrence = (this.calls.get(key) ?? 0) + 1;
    this.calls.set(key, occurrence);
    const name = layer?.split('.').at(-1) ?? kind.name;
    const outputs: Record<string, Value> = {};
    for (const [role, { shape, axes }] of Object.entries(shapes)) {
      outputs[role] = kind.view
        ? this.newView(kind, given.x, attributes, axes)
        : this.newValue(name, 'op', shape, axes);
    }
    const op: Op = {
      index: this.ops++,
      kind,
      name,
      module,
      scope: this.scope,
      direction,
      inputs: given,
      outputs,
      attributes,
      trace,
      occurrence,
    };
    this.events.push({ kind: 'op', op, scope: this.scope });
    return outputs;
  }

  private infer(kind: OpKind, inputs: Named<Value>, attributes: Attributes, module: string, trace: Trace) {
    try {
      return kind.infer(inputs, attributes);
    } catch (error) {
      if (!(error instanceof ShapeError)) throw error;
      const place = innermost(trace);
      const where = place ? ` (${place.source}:${place.line})` : '';
      throw new ShapeError(`Shapes do not fit in ${module || 'the model'}: ${error.message}${where}.`);
    }
  }

  private newView(kind: OpKind, x: Value, attributes: Attributes, axes: readonly string[] = []): Value {
    const layout = kind.view!(x.layout, attributes);
    const value = new Value(this.values.length, x.name, x.origin, x.storage, layout, axes);
    this.values.push(value);
    return value;
  }
}

function present(inputs: Given): Named<Value> {
  return Object.fromEntries(
    Object.entries(inputs).filter((entry): entry is [string, Value] => entry[1] !== undefined),
  );
}

function join(path: string, name: string): string {
  return path ? `${path}.${name}` : name;
}
