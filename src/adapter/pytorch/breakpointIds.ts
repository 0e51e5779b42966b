/**
 * debugpy and the agent number breakpoints each for itself. Odd numbers are the agent's, even ones debugpy's; none
 * is 0, which clients take for "no number".
 */
export const agentId = (n: number): number => 2 * n + 1;
export const fromDebugpy = (id: number): number => 2 * (id + 1);
