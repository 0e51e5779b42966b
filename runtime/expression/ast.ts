/** Positions in the text: first character and one past the last. */
interface Span {
  readonly start: number;
  readonly end: number;
}

export type UnaryOperator = '-' | '+' | '~' | 'not';
export type BinaryOperator = '+' | '-' | '*' | '/' | '//' | '%' | '**' | '&' | '|';
export type Comparison = '<' | '<=' | '>' | '>=' | '==' | '!=' | 'in' | 'not in' | 'is' | 'is not';

/** One part of a subscript: `0`, `1:5:2` or `...`. */
export type IndexItem =
  | { readonly type: 'ellipsis' }
  | { readonly type: 'slice'; readonly from?: Node; readonly to?: Node; readonly step?: Node }
  | { readonly type: 'value'; readonly value: Node };

export interface NamedArgument {
  readonly name: string;
  readonly value: Node;
}

export type LiteralNode = Span & {
  readonly type: 'literal';
  readonly value: number | string | boolean | null;
};
export type NameNode = Span & { readonly type: 'name'; readonly name: string };
export type AttributeNode = Span & {
  readonly type: 'attribute';
  readonly object: Node;
  readonly name: string;
};
export type CallNode = Span & {
  readonly type: 'call';
  readonly callee: NameNode | AttributeNode;
  readonly positional: readonly Node[];
  readonly named: readonly NamedArgument[];
};
export type IndexNode = Span & {
  readonly type: 'index';
  readonly object: Node;
  readonly items: readonly IndexItem[];
};
export type UnaryNode = Span & {
  readonly type: 'unary';
  readonly operator: UnaryOperator;
  readonly operand: Node;
};
export type BinaryNode = Span & {
  readonly type: 'binary';
  readonly operator: BinaryOperator;
  readonly left: Node;
  readonly right: Node;
};
/** `operands[0] operators[0] operands[1] operators[1] ...`, as in `0 < x < 1`. */
export type CompareNode = Span & {
  readonly type: 'compare';
  readonly operands: readonly Node[];
  readonly operators: readonly Comparison[];
};
export type LogicNode = Span & {
  readonly type: 'logic';
  readonly operator: 'and' | 'or';
  readonly terms: readonly Node[];
};
export type ConditionalNode = Span & {
  readonly type: 'conditional';
  readonly condition: Node;
  readonly then: Node;
  readonly otherwise: Node;
};
export type SequenceNode = Span & {
  readonly type: 'sequence';
  readonly kind: 'tuple' | 'list';
  readonly items: readonly Node[];
};

export type Node =
  | LiteralNode
  | NameNode
  | AttributeNode
  | CallNode
  | IndexNode
  | UnaryNode
  | BinaryNode
  | CompareNode
  | LogicNode
  | ConditionalNode
  | SequenceNode;

/** A parsed text, ready to be evaluated any number of times. */
export class Expression {
  constructor(
    readonly text: string,
    readonly root: Node,
  ) {}

  /** The names that a scope must know; functions that are called by name are not among them. */
  names(): Set<string> {
    return new Set(freeNames(this.root).map((node) => node.name));
  }

  /** The piece of text that a node was read from. */
  source(node: Node): string {
    return this.text.slice(node.start, node.end);
  }
}

/** Modules whose functions may be written with their Python path, e.g. `torch.isnan(x)`. */
export const MODULES: ReadonlySet<string> = new Set(['torch', 'math']);

/** The free names below a node, in the order of the text. */
export function freeNames(node: Node): NameNode[] {
  if (node.type === 'name') return MODULES.has(node.name) ? [] : [node];
  if (node.type === 'call' && node.callee.type === 'name') return children(node).slice(1).flatMap(freeNames);
  return children(node).flatMap(freeNames);
}

/** The node whose truth decides when all before it were as they must be: the last term of `and` and `or`. */
export function deciding(node: Node): Node {
  return node.type === 'logic' ? deciding(node.terms.at(-1)!) : node;
}

/** The nodes right below a node. */
export function children(node: Node): readonly Node[] {
  switch (node.type) {
    case 'literal':
    case 'name':
      return [];
    case 'attribute':
      return [node.object];
    case 'call':
      return [node.callee, ...node.positional, ...node.named.map((argument) => argument.value)];
    case 'index':
      return [node.object, ...node.items.flatMap(indexNodes)];
    case 'unary':
      return [node.operand];
    case 'binary':
      return [node.left, node.right];
    case 'compare':
      return node.operands;
    case 'logic':
      return node.terms;
    case 'conditional':
      return [node.then, node.condition, node.otherwise];
    case 'sequence':
      return node.items;
  }
}

function indexNodes(item: IndexItem): Node[] {
  if (item.type === 'ellipsis') return [];
  if (item.type === 'value') return [item.value];
  return [item.from, item.to, item.step].filter((node) => node !== undefined);
}
