import {
  type AttributeNode,
  type BinaryOperator,
  type Comparison,
  Expression,
  type IndexItem,
  type NamedArgument,
  type NameNode,
  type Node,
} from './ast';
import { syntaxError } from './errors';
import { type Token, tokenize } from './lexer';

/** Parentheses, signs and the like inside each other; deeper nesting is refused before the stack is. */
const MAX_DEPTH = 100;

/** How tightly the binary operators bind; all of them group to the left. `**` is read by `power`. */
const BINDING: Record<string, number> = { '|': 1, '&': 2, '+': 3, '-': 3, '*': 4, '/': 4, '//': 4, '%': 4 };

const COMPARISONS = new Set(['<', '<=', '>', '>=', '==', '!=', 'in', 'not', 'is']);
const CONSTANTS: Record<string, boolean | null> = { True: true, False: false, None: null };

/** Reads a Python expression. Throws an `ExpressionError` with the column and a suggestion. */
export function parseExpression(text: string): Expression {
  if (text.trim() === '') throw syntaxError('there is no expression', 0, 'e.g. delta.max() > 0.1');
  return new Expression(text, new Parser(text, tokenize(text)).whole());
}

/** One method per level of Python's precedence, from the loosest to the tightest. */
class Parser {
  private at = 0;
  private depth = 0;

  constructor(
    private readonly text: string,
    private readonly tokens: readonly Token[],
  ) {}

  whole(): Node {
    const node = this.expression();
    if (this.is(','))
      throw this.error('a comma makes a tuple, which is always true', 'and between conditions');
    if (this.token.type !== 'end') throw this.unexpected('an operator');
    return node;
  }

  /** `a if c else b` and everything that binds tighter. */
  private expression(): Node {
    return this.nested(() => {
      const then = this.logic('or');
      if (!this.accept('if')) return then;
      const condition = this.logic('or');
      if (!this.accept('else'))
        throw this.error('an "if" inside an expression needs an "else"', 'a if c else b, or and');
      const otherwise = this.expression();
      return { type: 'conditional', then, condition, otherwise, start: then.start, end: otherwise.end };
    });
  }

  private logic(operator: 'or' | 'and'): Node {
    const term = () => (operator === 'or' ? this.logic('and') : this.not());
    const terms = [term()];
    while (this.accept(operator)) terms.push(term());
    if (terms.length === 1) return terms[0];
    return { type: 'logic', operator, terms, start: terms[0].start, end: terms.at(-1)!.end };
  }

  private not(): Node {
    const { start } = this.token;
    if (!this.accept('not')) return this.comparison();
    const operand = this.nested(() => this.not());
    return { type: 'unary', operator: 'not', operand, start, end: operand.end };
  }

  private comparison(): Node {
    const operands = [this.binary(1)];
    const operators: Comparison[] = [];
    for (let found = this.acceptComparison(); found; found = this.acceptComparison()) {
      operators.push(found);
      operands.push(this.binary(1));
    }
    if (operators.length === 0) return operands[0];
    return { type: 'compare', operands, operators, start: operands[0].start, end: operands.at(-1)!.end };
  }

  private acceptComparison(): Comparison | undefined {
    const word = wordOf(this.token);
    if (!COMPARISONS.has(word)) return undefined;
    if (word === 'not' && wordOf(this.tokens[this.at + 1]) !== 'in') return undefined;
    this.at++;
    if (word === 'not') {
      this.at++;
      return 'not in';
    }
    if (word === 'is' && this.accept('not')) return 'is not';
    return word as Comparison;
  }

  private binary(loosest: number): Node {
    let left = this.unary();
    for (;;) {
      const operator = wordOf(this.token);
      const binding = this.token.type === 'operator' ? (BINDING[operator] ?? 0) : 0;
      if (binding < loosest || binding === 0) return left;
      this.at++;
      const right = this.binary(binding + 1);
      left = {
        type: 'binary',
        operator: operator as BinaryOperator,
        left,
        right,
        start: left.start,
        end: right.end,
      };
    }
  }

  private unary(): Node {
    const { start } = this.token;
    for (const operator of ['-', '+', '~'] as const) {
      if (!this.accept(operator)) continue;
      const operand = this.nested(() => this.unary());
      return { type: 'unary', operator, operand, start, end: operand.end };
    }
    return this.power();
  }

  /** `**` binds tighter than a sign to its left and looser than one to its right: -x ** -2. */
  private power(): Node {
    const left = this.postfix();
    if (!this.accept('**')) return left;
    const right = this.nested(() => this.unary());
    return { type: 'binary', operator: '**', left, right, start: left.start, end: right.end };
  }

  private postfix(): Node {
    let node = this.atom();
    for (;;) {
      if (this.accept('.')) node = this.attribute(node);
      else if (this.is('(')) node = this.call(node);
      else if (this.accept('[')) node = this.subscript(node);
      else return node;
    }
  }

  private attribute(object: Node): Node {
    const { token } = this;
    if (token.type !== 'name') throw this.unexpected('a name after "."');
    this.at++;
    return { type: 'attribute', object, name: token.text, start: object.start, end: token.end };
  }

  private call(callee: Node): Node {
    if (callee.type !== 'name' && callee.type !== 'attribute')
      throw this.error(`\`${this.text.slice(callee.start, callee.end)}\` cannot be called`);
    this.expect('(');
    const positional: Node[] = [];
    const named: NamedArgument[] = [];
    while (!this.is(')')) {
      this.argument(positional, named);
      if (!this.accept(',')) break;
    }
    const end = this.expect(')');
    return {
      type: 'call',
      callee: callee satisfies NameNode | AttributeNode,
      positional,
      named,
      start: callee.start,
      end,
    };
  }

  private argument(positional: Node[], named: NamedArgument[]): void {
    if (this.is('*') || this.is('**')) throw this.error('"*" in front of an argument is not supported');
    const { token } = this;
    if (token.type === 'name' && wordOf(this.tokens[this.at + 1]) === '=') {
      if (named.some((argument) => argument.name === token.text))
        throw this.error(`"${token.text}" is given twice`);
      this.at += 2;
      named.push({ name: token.text, value: this.expression() });
      return;
    }
    if (named.length > 0) throw this.error('an argument without a name follows one with a name');
    positional.push(this.expression());
  }

  private subscript(object: Node): Node {
    const items: IndexItem[] = [];
    while (!this.is(']')) {
      items.push(this.indexItem());
      if (!this.accept(',')) break;
    }
    if (items.length === 0) throw this.error('the brackets are empty', 'e.g. x[0]');
    const end = this.expect(']');
    return { type: 'index', object, items, start: object.start, end };
  }

  private indexItem(): IndexItem {
    if (this.accept('...')) return { type: 'ellipsis' };
    const from = this.is(':') ? undefined : this.expression();
    if (!this.accept(':')) return { type: 'value', value: from! };
    const to = this.bound();
    const step = this.accept(':') ? this.bound() : undefined;
    return { type: 'slice', from, to, step };
  }

  /** The optional end or step of a slice. */
  private bound(): Node | undefined {
    return this.is(':') || this.is(',') || this.is(']') ? undefined : this.expression();
  }

  private atom(): Node {
    const { token } = this;
    const { start, end } = token;
    if (token.type === 'number') {
      this.at++;
      return { type: 'literal', value: token.value, start, end };
    }
    if (token.type === 'string') return this.strings();
    if (token.type === 'name') {
      this.at++;
      return { type: 'name', name: token.text, start, end };
    }
    if (token.type === 'keyword' && Object.hasOwn(CONSTANTS, token.text)) {
      this.at++;
      return { type: 'literal', value: CONSTANTS[token.text], start, end };
    }
    if (this.accept('(')) return this.parenthesized(start);
    if (this.accept('[')) {
      const items = this.items(']', []);
      return { type: 'sequence', kind: 'list', items, start, end: this.expect(']') };
    }
    if (this.is('...')) throw this.error('"..." is only known inside brackets', 'e.g. x[..., 0]');
    throw this.unexpected('a value');
  }

  /** Strings beside each other are one string. */
  private strings(): Node {
    const { start } = this.token;
    let { end } = this.token;
    let value = '';
    for (let token = this.token; token.type === 'string'; token = this.token) {
      value += token.value;
      end = token.end;
      this.at++;
    }
    return { type: 'literal', value, start, end };
  }

  /** After "(": a group, whose span includes the parentheses, or a tuple. */
  private parenthesized(start: number): Node {
    if (this.is(')')) return { type: 'sequence', kind: 'tuple', items: [], start, end: this.expect(')') };
    const first = this.expression();
    if (!this.accept(',')) return { ...first, start, end: this.expect(')') };
    const items = this.items(')', [first]);
    return { type: 'sequence', kind: 'tuple', items, start, end: this.expect(')') };
  }

  private items(close: string, items: Node[]): Node[] {
    while (!this.is(close)) {
      items.push(this.expression());
      if (!this.accept(',')) break;
    }
    return items;
  }

  private get token(): Token {
    return this.tokens[this.at];
  }

  private is(word: string): boolean {
    return wordOf(this.token) === word;
  }

  private accept(word: string): boolean {
    const found = this.is(word);
    if (found) this.at++;
    return found;
  }

  /** Skips a closing sign and returns where it ends. */
  private expect(word: string): number {
    const { end } = this.token;
    if (!this.accept(word)) throw this.unexpected(`"${word}"`);
    return end;
  }

  private nested<T>(read: () => T): T {
    if (++this.depth > MAX_DEPTH) throw this.error('the expression is nested too deeply');
    const result = read();
    this.depth--;
    return result;
  }

  private error(what: string, suggestion?: string) {
    return syntaxError(what, this.token.start, suggestion);
  }

  private unexpected(expected: string) {
    if (this.is('=')) return this.error('"=" assigns, which a condition cannot do', '== to compare');
    if (this.token.type === 'end') return this.error(`the expression ends where ${expected} was expected`);
    const word = this.text.slice(this.token.start, this.token.end);
    return this.error(`${expected} was expected, not ${word}`);
  }
}

function wordOf(token: Token | undefined): string {
  return token && 'text' in token ? token.text : '';
}
