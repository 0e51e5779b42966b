import { readFile } from 'node:fs/promises';
import { InputError } from '../checkpoint/errors';

/** A JSON object of a file, or undefined when there is no such file. Rejects with an InputError. */
export async function readObject(path: string): Promise<Record<string, unknown> | undefined> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new InputError(`${path} cannot be read (${error.code}). Check its permissions.`);
  });
  if (text === undefined) return undefined;
  const json = parsed(text);
  if (typeof json === 'object' && json !== null && !Array.isArray(json))
    return json as Record<string, unknown>;
  throw new InputError(`${path} does not hold a JSON object. Copy or download it again.`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
