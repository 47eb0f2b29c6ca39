/** A command that could not do what it was asked; the message is the one line its user sees. Exit status 1. */
export class CommandFailed extends Error {
  override readonly name = "CommandFailed";
}

/** The command line itself is wrong. Exit status 2. */
export class CommandWrong extends Error {
  override readonly name = "CommandWrong";
}
