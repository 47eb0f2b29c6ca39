import type { Clock, Ids, Vault } from "#ports/index.ts";
import { type Database, peopleLock } from "#storage/tables.ts";

export interface PeopleOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly ids: Ids;
}

/**
 * Writes about people happen one after the other, in every process. Whether somebody is the last owner or the last
 * administrator is a question about other rows, which two writes at once would both answer with no.
 */
export interface PeopleContext extends PeopleOptions {
  readonly lock: typeof peopleLock;
}

/** The same for those who open what is sealed. */
export interface RightsContext extends PeopleContext {
  readonly vault: Vault;
}

export function peopleContext(options: PeopleOptions): PeopleContext {
  return { ...options, lock: peopleLock };
}
