import { children, type Expression, freeNames, MODULES, type NameNode, type Node } from './ast';
import { didYouMean, ExpressionError, listNames } from './errors';
import { FUNCTIONS } from './functions';
import { MEMBERS, TENSOR_METHODS, unknownAnywhere } from './methods';

/** Words that stand for themselves, so that whoever writes them as a name forgot the quotes. */
const WORDS = new Set(['forward', 'backward', 'entry', 'exit', 'step']);

/**
 * What can be told before the program runs: that every name is one of `known`, and that every function and
 * method exists. Throws the `ExpressionError` that the evaluation would throw.
 */
export function checkNames(expression: Expression, known: readonly string[]): void {
  for (const node of freeNames(expression.root))
    if (!known.includes(node.name)) throw unknownName(node, known);
  checkCalls(expression.root, known);
}

function checkCalls(node: Node, known: readonly string[]): void {
  if (node.type === 'call' && node.callee.type === 'name' && !Object.hasOwn(FUNCTIONS, node.callee.name))
    throw unknownFunction(node.callee, known);
  if (node.type === 'attribute' && !isModule(node.object) && !MEMBERS.has(node.name)) {
    const error = unknownAnywhere(node.name);
    error.column = node.end - node.name.length + 1;
    throw error;
  }
  for (const child of children(node)) checkCalls(child, known);
}

function isModule(node: Node): boolean {
  return node.type === 'name' && MODULES.has(node.name);
}

/** The error for a name that nothing in the scope has. */
export function unknownName(node: NameNode, known: readonly string[]): ExpressionError {
  const { name } = node;
  const column = node.start + 1;
  if (Object.hasOwn(FUNCTIONS, name))
    return new ExpressionError(`${name} is a function; write e.g. ${name}(x).`, column, `${name}(x)`);
  if (WORDS.has(name))
    return new ExpressionError(`${name} is not known here; write "${name}" in quotes.`, column, `"${name}"`);
  if (known.includes(name)) return new ExpressionError(`${name} has no value here.`, column);
  const { advice, suggestion } = didYouMean(name, known);
  const list = known.length ? ` Known names: ${listNames([...known].sort())}.` : '';
  return new ExpressionError(`${name} is not known here${advice}${list}`, column, suggestion);
}

/** The error for a call of what is not a function. */
export function unknownFunction(node: NameNode, known: readonly string[]): ExpressionError {
  const { name } = node;
  const column = node.start + 1;
  if (known.includes(name))
    return new ExpressionError(
      `${name} is not a function; write ${name}[...] to index it.`,
      column,
      `${name}[...]`,
    );
  if (TENSOR_METHODS.has(name))
    return new ExpressionError(`${name} is a method of tensors; write x.${name}().`, column, `x.${name}()`);
  const { advice, suggestion } = didYouMean(name, Object.keys(FUNCTIONS));
  return new ExpressionError(
    `There is no function ${name}()${advice} Functions: ${listNames(Object.keys(FUNCTIONS))}.`,
    column,
    suggestion,
  );
}
