import type { PeopleStore } from "#directory/index.ts";
import type { Database } from "#storage/index.ts";
import type { FakeClock } from "../fake-clock.ts";

/** A new database with two workspaces, and a function that creates users like a sign-in does. */
export interface PeopleFixture extends AsyncDisposable {
  readonly database: Database;
  readonly clock: FakeClock;
  readonly people: PeopleStore;
  readonly acme: string;
  readonly other: string;
  user(name: string): Promise<string>;
  /** Removes a user like the sign-in provider does. */
  remove(userId: string): Promise<void>;
}
