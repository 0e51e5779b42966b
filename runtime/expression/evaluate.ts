import { type Arguments, bind } from './arguments';
import {
  type AttributeNode,
  type CallNode,
  type CompareNode,
  deciding,
  type Expression,
  type LogicNode,
  MODULES,
  type NameNode,
  type Node,
  type UnaryNode,
} from './ast';
import { ExpressionError, locate } from './errors';
import { extreme, FUNCTIONS } from './functions';
import { evaluateIndices, subscript } from './indexing';
import { attribute, callMethod } from './methods';
import { callModule, moduleConstant } from './modules';
import { unknownFunction, unknownName } from './names';
import { binary, compare, contains, unary } from './operators';
import { truth } from './truth';
import { type Scope, Sequence, type Value } from './values';

/**
 * The value of an expression. Nothing is kept between calls.
 * @throws ExpressionError when a name is unknown or an operation is not possible, with the column of it.
 */
export function evaluate(expression: Expression, scope: Scope): Value {
  return new Evaluator(expression, scope).value(expression.root);
}

/** The value of one node of an expression. Throws as `evaluate` does. */
export function evaluateNode(expression: Expression, node: Node, scope: Scope): Value {
  return new Evaluator(expression, scope).value(node);
}

class Evaluator {
  constructor(
    private readonly expression: Expression,
    private readonly scope: Scope,
  ) {}

  value(node: Node): Value {
    switch (node.type) {
      case 'literal':
        return node.value;
      case 'name':
        return this.name(node);
      case 'sequence':
        return new Sequence(
          node.kind,
          node.items.map((item) => this.value(item)),
        );
      case 'conditional':
        return this.value(this.truth(node.condition) ? node.then : node.otherwise);
      case 'logic':
        return this.logic(node);
      case 'compare':
        return this.comparison(node);
      default:
        return locate(node.start, () => this.operation(node));
    }
  }

  truth(node: Node): boolean {
    return this.truthOf(this.value(node), node);
  }

  private truthOf(value: Value, node: Node): boolean {
    const { start, end } = deciding(node);
    return this.truthAt(value, start, end);
  }

  private truthAt(value: Value, start: number, end: number): boolean {
    return locate(start, () => truth(value, this.expression.text.slice(start, end)));
  }

  private operation(
    node: Exclude<Node, { type: 'literal' | 'name' | 'sequence' | 'conditional' | 'logic' | 'compare' }>,
  ): Value {
    switch (node.type) {
      case 'binary':
        return binary(node.operator, this.value(node.left), this.value(node.right));
      case 'unary':
        return this.unary(node);
      case 'index': {
        const object = this.value(node.object);
        return subscript(
          object,
          evaluateIndices(node.items, (item) => this.value(item)),
        );
      }
      case 'attribute':
        return this.attribute(node);
      case 'call':
        return this.call(node);
    }
  }

  private name(node: NameNode): Value {
    const value = this.scope.get(node.name);
    if (value === undefined) throw unknownName(node, this.scope.names());
    return value;
  }

  private unary(node: UnaryNode): Value {
    if (node.operator === 'not') return !this.truth(node.operand);
    return unary(node.operator, this.value(node.operand));
  }

  /** Gives the value that decides, not its truth, as Python does. */
  private logic(node: LogicNode): Value {
    const last = node.terms.length - 1;
    for (const term of node.terms.slice(0, last)) {
      const value = this.value(term);
      if (this.truthOf(value, term) === (node.operator === 'or')) return value;
    }
    return this.value(node.terms[last]);
  }

  /** `a < b < c` is `a < b and b < c` with b evaluated once. */
  private comparison(node: CompareNode): Value {
    const { operands, operators } = node;
    let left = this.value(operands[0]);
    for (let i = 0; ; i++) {
      const right = this.value(operands[i + 1]);
      const result = locate(operands[i].start, () => this.compareOnce(node, i, left, right));
      if (i === operators.length - 1 || !this.truthAt(result, operands[i].start, operands[i + 1].end))
        return result;
      left = right;
    }
  }

  private compareOnce(node: CompareNode, i: number, left: Value, right: Value): Value {
    const operator = node.operators[i];
    if (operator === 'in') return contains(right, left);
    if (operator === 'not in') return !contains(right, left);
    if (operator !== 'is' && operator !== 'is not') return compare(operator, left, right);
    const other = node.operands[i + 1];
    if (other.type === 'literal' && other.value === null) return (left === null) === (operator === 'is');
    const write = operator === 'is' ? '==' : '!=';
    throw new ExpressionError(`"${operator}" is only for None; write ${write}.`, undefined, write);
  }

  private attribute(node: AttributeNode): Value {
    if (this.isModule(node.object)) return moduleConstant(node.object.name, node.name);
    return attribute(this.value(node.object), node.name, this.expression.source(node.object));
  }

  /** `torch` and `math`, unless something in the scope is called so. */
  private isModule(node: Node): node is NameNode {
    return node.type === 'name' && MODULES.has(node.name) && this.scope.get(node.name) === undefined;
  }

  private call(node: CallNode): Value {
    const { callee } = node;
    if (callee.type === 'name') return this.callFunction(callee, node);
    if (this.isModule(callee.object))
      return callModule(callee.object.name, callee.name, this.arguments(node));
    return callMethod(this.value(callee.object), callee.name, this.arguments(node));
  }

  private callFunction(callee: NameNode, node: CallNode): Value {
    const { name } = callee;
    if (!Object.hasOwn(FUNCTIONS, name)) throw unknownFunction(callee, this.scope.names());
    if (name === 'bool' && node.positional.length === 1 && node.named.length === 0)
      return this.truth(node.positional[0]);
    const args = this.arguments(node);
    if ((name === 'min' || name === 'max') && args.positional.length > 1 && args.named.size === 0)
      return extreme(name, args.positional);
    return FUNCTIONS[name].call(bind(name, FUNCTIONS[name], args));
  }

  private arguments(node: CallNode): Arguments {
    return {
      positional: node.positional.map((argument) => this.value(argument)),
      named: new Map(node.named.map(({ name, value }) => [name, this.value(value)])),
    };
  }
}
