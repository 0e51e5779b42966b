/** An error that is a sentence for the person: what happened and what to do. */
export class UserError extends Error {
  constructor(
    message: string,
    /** Whether VS Code shows it in a dialog. */
    readonly showUser = false,
  ) {
    super(message);
  }
}

export const unknownRequest = (command: unknown): UserError =>
  new UserError(`Scanpoint does not know the request "${String(command)}".`);

export const wrongArgument = (command: string, argument: string, expected: string): UserError =>
  new UserError(`The request "${command}" needs ${argument} to be ${expected}.`);

export const notStarted = (): UserError =>
  new UserError('Nothing is being debugged yet; send "launch" first.');

export const notStopped = (): UserError =>
  new UserError('The model is running; pause it to look at its tensors.');

export const alreadyRunning = (): UserError => new UserError('The model is running already.');

export const goneFrame = (): UserError => new UserError('That frame belongs to a stop that is over.');

export const cancelled = (): UserError => new UserError('cancelled');

export const cannotLaunch = (reason: string): UserError => new UserError(reason, true);

export const noModel = (): UserError =>
  cannotLaunch(
    'The launch configuration has no "model"; give a published name or a JSON file with the constructor\'s arguments.',
  );

export const internalFault = (details: string): UserError =>
  new UserError(`A fault in Scanpoint: ${details}`);
