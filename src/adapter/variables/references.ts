import { UserError } from '../errors';
import type { Container } from './variable';

/** Numbers for containers. A key keeps its number for the whole session. */
export class References {
  private readonly numbers = new Map<string, number>();
  private readonly containers = new Map<number, Container>();

  numberOf(container: Container): number {
    let number = this.numbers.get(container.key);
    if (number === undefined) {
      number = this.numbers.size + 1;
      this.numbers.set(container.key, number);
    }
    this.containers.set(number, container);
    return number;
  }

  containerOf(number: number): Container {
    const container = this.containers.get(number);
    if (container) return container;
    throw new UserError(`There is no variable ${number} in this session.`);
  }
}
