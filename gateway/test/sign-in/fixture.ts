import { afterAll } from "bun:test";
import { createMemoryTries } from "#coordination/index.ts";
import { createPeopleStore, type PeopleStore } from "#directory/index.ts";
import type { LogLevel, Observer, SignIn, SignInEvent } from "#ports/index.ts";
import { createSignIn, type SignInOptions } from "#sign-in/index.ts";
import { type Database, passwordMatches } from "#storage/index.ts";
import { createIds, systemClock } from "#system/index.ts";
import { createTransport } from "#upstream/index.ts";
import { openMigrated } from "../migrated.ts";
import { Browser } from "./browser.ts";

export const password = "correct horse battery staple";
export const alice = { email: "alice@example.org", name: "Alice", password };

export interface Fixture {
  readonly database: Database;
  readonly signIn: SignIn;
  readonly people: PeopleStore;
  createUser(user: typeof alice): ReturnType<PeopleStore["createUser"]>;
  readonly events: SignInEvent[];
  readonly logged: { readonly level: LogLevel; readonly message: string; readonly fields: unknown }[];
  browser(origin?: string): Browser;
  /** Sign-in on another process with the same database. */
  otherProcess(): SignIn;
  /** A browser in which Alice has signed in with her password. */
  signedIn(email?: string): Promise<Browser>;
  /** All events, after pending account lookups: the database answers in order. */
  noted(): Promise<readonly SignInEvent[]>;
  /** The contents of all sign-in tables, as text. */
  stored(): Promise<string>;
}

/** The hash format of the gateway at a fraction of the cost, because these tests try many passwords. */
export function cheapHash(text: string): Promise<string> {
  return Bun.password.hash(text, { algorithm: "argon2id", memoryCost: 64, timeCost: 1 });
}

const opened: Database[] = [];
afterAll(async () => {
  for (const database of opened.splice(0)) await database.close();
});

/**
 * Sign-in with a real database and migrations, real password hashes and the real outbound transport. Uses SQLite in memory
 * unless a migrated database is passed, which the caller closes.
 */
export async function openFixture(options: Partial<SignInOptions> = {}, existing?: Database): Promise<Fixture> {
  const database = existing ?? (await ownDatabase());
  const events: SignInEvent[] = [];
  const logged: Fixture["logged"] = [];
  const settings: SignInOptions = {
    database: database.kysely,
    secrets: () => [{ version: 1, value: "a-secret-of-this-test-9f3c71d2b85e40a6" }],
    publicUrl: null,
    // Work deferred until after the answer runs at once.
    clock: { ...systemClock, after: atOnce },
    ids: createIds(systemClock),
    openTries: createMemoryTries(options.clock ?? systemClock),
    observer: silentObserver((level, message, fields) => void logged.push({ level, message, fields })),
    transport: createTransport({ clock: systemClock }),
    oidc: [],
    hashPassword: cheapHash,
    passwordMatches,
    onEvent: (event) => void events.push(event),
    ...options,
  };
  const signIn = createSignIn(settings);
  const people = createPeopleStore({ database, clock: settings.clock, ids: settings.ids });
  const browser = (origin?: string) => new Browser(signIn, origin);
  return {
    database,
    signIn,
    people,
    createUser: async (user) =>
      await people.createUser({ ...(await signIn.prepareUser(user)), grants: [] }, { actor: "test", ip: null }),
    events,
    logged,
    browser,
    otherProcess: () => createSignIn(settings),
    async signedIn(email = alice.email) {
      const fresh = browser(options.publicUrl ?? undefined);
      const answer = await fresh.signInWith(email, password);
      if (answer.status !== 200) throw new Error(`sign-in failed: ${JSON.stringify(answer.json)}`);
      return fresh;
    },
    async noted() {
      for (let turn = 0; turn < 2; turn++) await database.kysely.selectFrom("auth_users").select("id").execute();
      return events;
    },
    async stored() {
      const names = ["auth_users", "auth_sessions", "auth_accounts", "auth_verifications", "auth_two_factors"] as const;
      const tables = await Promise.all(names.map((name) => database.kysely.selectFrom(name).selectAll().execute()));
      return JSON.stringify(tables);
    },
  };
}

async function ownDatabase(): Promise<Database> {
  const database = await openMigrated(":memory:");
  opened.push(database);
  return database;
}

function atOnce(_delayMs: number, act: () => void): () => void {
  act();
  return () => {};
}

function silentObserver(log: Observer["log"]): Observer {
  const nothing = () => {};
  return { log, attemptEnd: nothing, requestEnd: nothing, breakerChange: nothing, configReload: nothing };
}
