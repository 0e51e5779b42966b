import { type Arguments, bind } from './arguments';
import { ELEMENT_METHODS } from './elementMethods';
import { didYouMean, ExpressionError, listNames } from './errors';
import { type Method, REDUCTIONS } from './reductions';
import { ATTRIBUTES, SHAPE_METHODS } from './shapeMethods';
import { STRING_METHODS } from './stringMethods';
import { describeType, TensorValue, type Value } from './values';

/** All methods of tensors by name. */
export const TENSOR_METHODS: ReadonlyMap<string, Method> = new Map(
  Object.entries({ ...REDUCTIONS, ...ELEMENT_METHODS, ...SHAPE_METHODS }),
);

/** Everything that may follow a dot, whatever stands before it. */
export const MEMBERS: ReadonlySet<string> = new Set([
  ...TENSOR_METHODS.keys(),
  ...Object.keys(ATTRIBUTES),
  ...Object.keys(STRING_METHODS),
]);

/** `object.name`. Throws an `ExpressionError` for a method without its call and for unknown names. */
export function attribute(object: Value, name: string, source: string): Value {
  if (object instanceof TensorValue) {
    if (Object.hasOwn(ATTRIBUTES, name)) return ATTRIBUTES[name](object);
    if (TENSOR_METHODS.has(name)) throw uncalled(source, name);
  }
  if (typeof object === 'string' && Object.hasOwn(STRING_METHODS, name)) throw uncalled(source, name);
  throw unknownMember(object, name);
}

function uncalled(source: string, name: string): ExpressionError {
  const call = `${source}.${name}()`;
  return new ExpressionError(`.${name} is a method; write ${call}.`, undefined, call);
}

/** `object.name(...)`. Throws an `ExpressionError`. */
export function callMethod(object: Value, name: string, args: Arguments): Value {
  if (object instanceof TensorValue) {
    const method = TENSOR_METHODS.get(name);
    if (method) return method.call(object, bind(name, method, args));
    if (Object.hasOwn(ATTRIBUTES, name))
      throw new ExpressionError(`.${name} is not a method; write it without ( ).`, undefined, `.${name}`);
  }
  if (typeof object === 'string' && Object.hasOwn(STRING_METHODS, name)) {
    const method = STRING_METHODS[name];
    return method.call(object, bind(name, method, args));
  }
  throw unknownMember(object, name);
}

function unknownMember(object: Value, name: string): ExpressionError {
  const known = membersOf(object);
  const what = object instanceof TensorValue ? 'A tensor' : capitalize(describeType(object));
  if (known.length === 0) return new ExpressionError(`${what} has no .${name}.`);
  return unknownName(`${what} has no .${name}`, name, known);
}

/** An unknown attribute or method, whatever it is asked of. */
export function unknownAnywhere(name: string): ExpressionError {
  return unknownName(`Neither tensors nor strings have .${name}`, name, [...MEMBERS]);
}

function unknownName(what: string, name: string, known: readonly string[]): ExpressionError {
  const { advice, suggestion } = didYouMean(name, known);
  const list = suggestion === undefined ? ` Known: ${listNames(known, 60)}.` : '';
  return new ExpressionError(`${what}${advice}${list}`, undefined, suggestion);
}

function membersOf(object: Value): string[] {
  if (object instanceof TensorValue) return [...TENSOR_METHODS.keys(), ...Object.keys(ATTRIBUTES)];
  if (typeof object === 'string') return Object.keys(STRING_METHODS);
  return [];
}

function capitalize(text: string): string {
  return text[0].toUpperCase() + text.slice(1);
}
