/** A command that could not do what it was asked; the message is the one line its user sees. Exit status 1. */
export class CommandFailed extends Error {
  override readonly name = "CommandFailed";
}

/** The command line itself is wrong. Exit status 2. */
export class CommandWrong extends Error {
  override readonly name = "CommandWrong";
}

/** A command that failed, and whose reason has been told already. */
export class CommandTold extends Error {
  override readonly name = "CommandTold";
  readonly status: number;

  constructor(status: number) {
    super(`ended with status ${status}`);
    this.status = status;
  }
}
