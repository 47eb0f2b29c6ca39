import type { Environment } from "#config/index.ts";
import { CommandFailed } from "./command-failed.ts";

/** Commands that copy a file have none to copy where the database is a server's, and say who does that there. */
export function refuseOnServer({ databaseUrl }: Environment, line: string): void {
  if (databaseUrl !== null) throw new CommandFailed(line);
}
