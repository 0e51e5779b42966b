/**
 * The condition language: Python expressions over tensors with tensor statistics, read and evaluated here.
 * Used by conditions, log messages, watches and the console.
 */
export { Expression } from './ast';
export { describeComparison } from './describe';
export { ExpressionError } from './errors';
export { evaluate } from './evaluate';
export { formatForLog, formatValue } from './format';
export { checkNames } from './names';
export { parseExpression } from './parser';
export { truth } from './truth';
export { type Scope, Sequence, TensorValue, type Value } from './values';
