import type { PeopleStore } from "#directory/index.ts";
import type { Database } from "#storage/index.ts";
import type { FakeClock } from "../fake-clock.ts";

/** A fresh database with two workspaces, and a way to make users as sign-in would. */
export interface PeopleGround extends AsyncDisposable {
  readonly database: Database;
  readonly clock: FakeClock;
  readonly people: PeopleStore;
  readonly acme: string;
  readonly other: string;
  user(name: string): Promise<string>;
  /** As sign-in removes one. */
  remove(userId: string): Promise<void>;
}
