/**
 * Makes sure that a venv with these requirements (test/python/requirements.txt when left out) lies in the cache.
 * @returns path of the venv's python
 */
export function ensurePython(requirements?: string): Promise<string>;
