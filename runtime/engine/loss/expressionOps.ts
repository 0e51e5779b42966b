import { type Arguments, bind } from '../../expression/arguments';
import {
  type BinaryOperator,
  type CallNode,
  type Expression,
  type IndexNode,
  MODULES,
  type Node,
} from '../../expression/ast';
import { didYouMean, ExpressionError, listNames, locate } from '../../expression/errors';
import { evaluateIndices, type Index, subscript } from '../../expression/indexing';
import { unknownName } from '../../expression/names';
import { binary, unary } from '../../expression/operators';
import { type Value as Plain, plainNumber, Sequence, shapeText, wholeNumber } from '../../expression/values';
import type { ModelBuilder } from '../../program/modelBuilder';
import { Value } from '../../program/value';
import { COMPILED_METHODS } from './expressionMethods';

/** A tensor of the program, or what is known while it is built: a number, a shape, ... */
export type Operand = Value | Plain;

/**
 * Appends the ops that compute an expression of the condition language over tensors of the program, and gives its
 * result. Throws an `ExpressionError` with the column of what has no gradient, or a `ShapeError`.
 */
export function compileExpression(
  p: ModelBuilder,
  expression: Expression,
  names: ReadonlyMap<string, Operand>,
): Operand {
  return new Compiler(p, names).operand(expression.root);
}

class Compiler {
  constructor(
    private readonly p: ModelBuilder,
    private readonly names: ReadonlyMap<string, Operand>,
  ) {}

  operand(node: Node): Operand {
    return locate(node.start, () => this.compile(node));
  }

  private compile(node: Node): Operand {
    switch (node.type) {
      case 'literal':
        return node.value;
      case 'name':
        return this.named(node);
      case 'sequence':
        return new Sequence(
          node.kind,
          node.items.map((item) => this.plain(item)),
        );
      case 'unary':
        return this.unary(node.operator, this.operand(node.operand));
      case 'binary':
        return this.binary(node.operator, this.operand(node.left), this.operand(node.right));
      case 'attribute':
        return this.attribute(this.operand(node.object), node.name);
      case 'index':
        return this.index(node);
      case 'call':
        return this.call(node);
      default:
        throw new ExpressionError(
          'A loss is made of + - * / **, indexing and methods; comparisons and choices have no gradient.',
        );
    }
  }

  private named(node: Node & { type: 'name' }): Operand {
    const value = this.names.get(node.name);
    if (value === undefined) throw unknownName(node, [...this.names.keys()]);
    return value;
  }

  /** What is known while the program is built, e.g. an index. */
  private plain(node: Node): Plain {
    const value = this.operand(node);
    if (!(value instanceof Value)) return value;
    throw new ExpressionError('Only whole numbers and slices can stand here, not a tensor.', node.start + 1);
  }

  private unary(operator: '-' | '+' | '~' | 'not', x: Operand): Operand {
    if (!(x instanceof Value)) {
      if (operator !== 'not') return unary(operator, x);
    } else if (operator === '+') return x;
    else if (operator === '-') return this.p.neg(x);
    throw new ExpressionError(`"${operator}" has no gradient.`);
  }

  private binary(operator: BinaryOperator, a: Operand, b: Operand): Operand {
    if (a instanceof Value && b instanceof Value) return this.ofTensors(operator, a, b);
    if (a instanceof Value) return this.withNumber(operator, a, numberOf(operator, b as Plain));
    if (b instanceof Value) return this.numberWith(operator, numberOf(operator, a), b);
    return binary(operator, a, b);
  }

  private ofTensors(operator: BinaryOperator, a: Value, b: Value): Value {
    if (operator === '+') return this.p.add(a, b);
    if (operator === '-') return this.p.sub(a, b);
    if (operator === '*') return this.p.mul(a, b);
    if (operator === '/') return this.p.div(a, b);
    throw operator === '**' ? new ExpressionError('"**" needs a number on one side.') : noGradient(operator);
  }

  private withNumber(operator: BinaryOperator, x: Value, by: number): Value {
    if (operator === '+') return this.p.shift(x, by);
    if (operator === '-') return this.p.shift(x, -by);
    if (operator === '*') return this.p.scale(x, by);
    if (operator === '/') return this.p.scale(x, 1 / by);
    if (operator === '**') return this.p.pow(x, by);
    throw noGradient(operator);
  }

  private numberWith(operator: BinaryOperator, by: number, x: Value): Value {
    if (operator === '+') return this.p.shift(x, by);
    if (operator === '-') return this.p.shift(this.p.neg(x), by);
    if (operator === '*') return this.p.scale(x, by);
    if (operator === '/') return this.p.scale(this.p.pow(x, -1), by);
    if (operator === '**' && by > 0) return this.p.exp(this.p.scale(x, Math.log(by)));
    throw operator === '**'
      ? new ExpressionError('"**" needs a number above 0 before a tensor.')
      : noGradient(operator);
  }

  private attribute(x: Operand, name: string): Operand {
    if (x instanceof Value && name === 'shape') return Sequence.tuple(x.shape);
    if (x instanceof Value && name === 'ndim') return x.shape.length;
    if (x instanceof Value && COMPILED_METHODS.has(name))
      throw new ExpressionError(`.${name} is a method; write .${name}().`);
    throw unknownMethod(name);
  }

  /** `x.mean(0)`, and the same as `mean(x, 0)` or `torch.mean(x, 0)`. */
  private call({ callee, positional, named }: CallNode): Operand {
    const isMethod =
      callee.type === 'attribute' && !(callee.object.type === 'name' && MODULES.has(callee.object.name));
    const [first, rest] = isMethod ? [callee.object, positional] : [positional[0], positional.slice(1)];
    const x = first && this.operand(first);
    const method = COMPILED_METHODS.get(callee.name);
    if (!method) throw unknownMethod(callee.name);
    if (!(x instanceof Value)) throw new ExpressionError(`${callee.name}() needs a tensor of the model.`);
    const args: Arguments = {
      positional: rest.map((node) => this.plain(node)),
      named: new Map(named.map((argument) => [argument.name, this.plain(argument.value)])),
    };
    return method.compile(this.p, x, bind(callee.name, method, args));
  }

  private index(node: IndexNode): Operand {
    const x = this.operand(node.object);
    const indices = evaluateIndices(node.items, (item) => this.plain(item));
    return x instanceof Value ? this.part(x, indices) : subscript(x, indices);
  }

  /** A view of a tensor: `x[0, ..., 3:5, ::2, None]`. */
  private part(whole: Value, indices: readonly Index[]): Value {
    const taking = indices.filter((i) => i.type === 'slice' || (i.type === 'value' && i.value !== null));
    const rest = whole.shape.length - taking.length;
    if (rest < 0)
      throw new ExpressionError(
        `There are ${taking.length} indices for a tensor of shape ${shapeText(whole.shape)}.`,
      );
    let [x, axis] = [whole, 0];
    for (const index of indices) {
      if (index.type === 'ellipsis') axis += rest;
      else if (index.type === 'slice') x = this.slice(x, axis++, index);
      else if (index.value === null) x = this.p.unsqueeze(x, axis++);
      else x = this.p.select(x, axis, position(x.shape[axis], index.value));
    }
    return x;
  }

  private slice(x: Value, axis: number, index: Index): Value {
    const size = x.shape[axis];
    const taken = subscript(Sequence.tuple([...Array(size).keys()]), [index]) as Sequence;
    const [first, second] = taken.items as number[];
    const last = taken.items.at(-1) as number | undefined;
    if (last === undefined) throw new ExpressionError(`A slice takes no element of an axis of size ${size}.`);
    if (last < first) throw new ExpressionError('The step of a tensor slice must be above 0, as in PyTorch.');
    const run = taken.items.length === size ? x : this.p.slice(x, axis, first, last + 1);
    return second - first > 1 ? this.p.every(run, axis, second - first) : run;
  }
}

function position(size: number, value: Plain): number {
  if (typeof value === 'boolean' || value instanceof Sequence)
    throw new ExpressionError('An index of a loss is a whole number, a slice, None or "...".');
  const i = wholeNumber(value, 'An index');
  if (i >= -size && i < size) return i < 0 ? i + size : i;
  throw new ExpressionError(`Index ${i} is out of range for an axis of size ${size}.`);
}

function numberOf(operator: BinaryOperator, value: Plain): number {
  const x = plainNumber(value);
  if (x === undefined) throw new ExpressionError(`"${operator}" needs numbers and tensors on both sides.`);
  return x;
}

function noGradient(operator: BinaryOperator): ExpressionError {
  return new ExpressionError(`"${operator}" has no gradient; a loss is made of + - * / and **.`);
}

function unknownMethod(name: string): ExpressionError {
  const known = [...COMPILED_METHODS.keys()];
  const { advice, suggestion } = didYouMean(name, known);
  return new ExpressionError(
    `${name} cannot be used in a loss${advice} It knows: ${listNames(known)}.`,
    undefined,
    suggestion,
  );
}
