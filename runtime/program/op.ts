import type { Direction, Pass } from '../../src/protocol/site';
import type { Layout, Tensor } from '../tensor/tensor';
import type { Scope } from './scope';
import type { Trace } from './source';
import type { Value } from './value';

/** Named tensors of an op; a name that an op does not need may be absent. */
export type Named<T> = { readonly [name: string]: T };

/** What an op makes: shape and, where they are known, the names of its axes. */
export interface Output {
  shape: readonly number[];
  axes?: readonly string[];
}

/** Constants of an op, e.g. the axis of a concatenation. */
export type Attributes = Readonly<Record<string, number | readonly number[] | string | boolean>>;

/** Computes outputs from inputs. */
export type Run = (inputs: Named<Tensor>, outputs: Named<Tensor>, attributes: Attributes) => void;

/** What all ops of one kind share. Kinds live in program/ops, a file per family. */
export interface OpKind {
  readonly name: string;
  /** Checks the inputs' shapes and gives the outputs'. Throws a `ShapeError`. */
  infer(inputs: Named<Value>, attributes: Attributes): Named<Output>;
  /** For ops that move no data: how the result lies in the storage of `x`. */
  readonly view?: (x: Layout, attributes: Attributes) => Layout;
  /** Computes the outputs; absent on views. */
  readonly run?: Run;
  /** How gradients pass; absent on views, whose gradients are views too. */
  readonly backward?: BackwardRule;
}

/** The gradient of all ops of one kind, named after the inputs and outputs: `dx` for `x`, `dy` for `y`. */
export interface BackwardRule {
  /** Inputs and outputs of the op that the gradients are computed from. */
  readonly reads?: readonly string[];
  /** Inputs whose gradient is dy itself where they have its shape; nothing is computed for them then. */
  readonly passes?: readonly string[];
  /** Inputs that have no gradient, e.g. labels. */
  readonly constant?: readonly string[];
  /**
   * Computes the inputs' gradients (`dx`, `dweight`) from the tensors in `reads` and the outputs' gradients (`dy`).
   * Only gradients that are needed are among the outputs; each element is written, not added to.
   */
  readonly run: Run;
}

/** One step of a program. */
export interface Op {
  readonly index: number;
  readonly kind: OpKind;
  /** Last part of the module path for layers (`in_proj`), else the kind's name. */
  readonly name: string;
  /** Dotted path of the layer that holds the op's parameters, or of the scope. */
  readonly module: string;
  readonly scope: Scope;
  readonly direction?: Direction;
  readonly inputs: Named<Value>;
  readonly outputs: Named<Value>;
  readonly attributes: Attributes;
  readonly trace: Trace;
  /** Which call of this op in its module and direction, from 1. */
  readonly occurrence: number;
  /** `backward` for ops that compute gradients; absent means `forward`. */
  readonly pass?: Pass;
  /** In the backward pass: the op whose gradient this one computes. */
  readonly forward?: Op;
}

/** Shapes that do not fit; the builder adds the module and the source line. */
export class ShapeError extends Error {}

export function shapeText(shape: readonly number[]): string {
  return `[${shape.join(', ')}]`;
}

/** Throws a `ShapeError` unless `condition`. */
export function requireShape(condition: boolean, message: () => string): asserts condition {
  if (!condition) throw new ShapeError(message());
}
