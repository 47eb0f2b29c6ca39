import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BodyInput, consoleRoutes, type QueryInput, type RouteId, urlOf } from "@sluice/contract";
import { Hono } from "hono";
import { sql } from "kysely";
import { createMemoryTries } from "#coordination/index.ts";
import { asFailure, type ConfigSnapshot, Failure, failureAnswer } from "#core/index.ts";
import { type ControlStore, createControlStore, createPeopleStore, type PeopleStore } from "#directory/index.ts";
import type { LedgerStore, User, Vault } from "#ports/index.ts";
import { createLedgerStore, type Database, migrate, openDatabase, openVault } from "#storage/index.ts";
import { createIds } from "#system/index.ts";
import type { ConsoleDependencies } from "../src/admin/dependencies.ts";
import { type AdminEnv, type Handlers, mountHandlers } from "../src/admin/handlers/calls.ts";
import { consoleHandlers } from "../src/admin/handlers/console-handlers.ts";
import { kindDefaults } from "../src/main/config-checks.ts";
import { FakeClock } from "./fake-clock.ts";
import { createHeaderSignIn, type HeaderSignIn, sessionHeader } from "./header-sign-in.ts";
import { migratedFile } from "./migrated.ts";

/**
 * The test users. Viewer, member, admin and owner have that role in the workspace acme; the stranger owns the
 * workspace other and has no role in acme; the newcomer has no role anywhere.
 */
export const fixtureUsers = ["newcomer", "stranger", "viewer", "member", "admin", "owner", "administrator"] as const;
export type FixtureUser = (typeof fixtureUsers)[number];

/** The caller of a route: a test user with a fresh or stale session, an admin token, or no one. */
export type Who = FixtureUser | "nobody" | { readonly stale: FixtureUser | string } | { readonly user: string } | Token;
interface Token {
  readonly token: string;
}

interface FixtureCall<Id extends RouteId> {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: QueryInput<Id>;
  readonly body?: BodyInput<Id> | Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly ip?: string;
}

export interface FixtureAnswer {
  readonly status: number;
  /** The error code of a refusal. */
  readonly code: string | null;
  readonly param: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads any field of an answer.
  readonly body: any;
  readonly headers: Headers;
}

/** The real stores over a real, fully migrated database. */
export interface FixtureGateway {
  readonly database: Database;
  readonly databasePath: string;
  readonly vault: Vault;
  readonly clock: FakeClock;
  readonly ids: ReturnType<typeof createIds>;
  readonly controlStore: ControlStore;
  readonly ledgerStore: LedgerStore;
  readonly people: PeopleStore;
  readonly signIn: HeaderSignIn;
  readonly configSnapshot: () => ConfigSnapshot;
  readonly acme: { readonly id: string; readonly slug: string };
  readonly other: { readonly id: string; readonly slug: string };
  readonly users: Readonly<Record<FixtureUser, User>>;
}

export interface ConsoleFixture extends FixtureGateway, AsyncDisposable {
  /**
   * A request as a browser (with a session) or a program (with a token) sends it, through routing, checks and handler.
   */
  call<Id extends RouteId>(who: Who, id: Id, options?: FixtureCall<Id>): Promise<FixtureAnswer>;
  fetch(request: Request, ip?: string): Promise<Response>;
  /** Rows of the audit log, oldest first, starting at `after`. */
  audit(after?: number): Promise<readonly AuditLine[]>;
  /** Reloads the config snapshot after a change that did not go through `call`. */
  refresh(): Promise<void>;
}

export interface AuditLine {
  readonly seq: number;
  readonly actor: string;
  readonly ip: string | null;
  readonly action: string;
  readonly object: string;
  readonly workspace_id: string | null;
  readonly before: string | null;
  readonly after: string | null;
}

const auditSource = { actor: "test", ip: null };

export const fixtureOrigin = "http://gateway.test:8787";

/** Additional dependencies that a test's routes need. */
type FixtureParts = { readonly [Name in keyof ConsoleDependencies]?: Partial<ConsoleDependencies[Name]> };

/** Serves the whole admin API. A route fails if a dependency it needs was not passed. */
export async function openConsoleFixture(
  partsOf: (gateway: FixtureGateway) => FixtureParts = () => ({}),
  handlersOf: (dependencies: ConsoleDependencies) => Handlers = consoleHandlers,
): Promise<ConsoleFixture> {
  const directory = mkdtempSync(join(tmpdir(), "sluice-console-"));
  const clock = new FakeClock();
  const ids = createIds(clock);
  const vault = openVault({ masterKey: null, dataDir: directory });
  const databasePath = join(directory, "sluice.db");
  const { acme, other, users } = await writeSeeded(databasePath);
  const database = openDatabase({ path: databasePath });
  const controlStore = createControlStore({ database, vault, clock, ids, kindDefaults });
  const people = createPeopleStore({ database, clock, ids });
  const signIn = createHeaderSignIn(database, () => clock.now(), fixtureUsers.length);
  let configSnapshot = await controlStore.configSnapshot();
  const refresh = async (): Promise<void> => {
    configSnapshot = await controlStore.configSnapshot();
  };
  const gateway: FixtureGateway = {
    database,
    databasePath,
    vault,
    clock,
    ids,
    controlStore,
    ledgerStore: createLedgerStore(database),
    people,
    signIn,
    configSnapshot: () => configSnapshot,
    acme,
    other,
    users,
  };
  const app = new Hono<AdminEnv>();
  // Lists are not counted unless a test brings reports.
  const reports = { listCount: async () => ({ total: null, more_than_total: false }) };
  const parts = { ...gateway, publicUrl: null, openTries: createMemoryTries(clock), reports, ...partsOf(gateway) };
  mountHandlers(app, handlersOf(parts as unknown as ConsoleDependencies), { ...gateway, publicUrl: null });
  app.notFound(() => failureAnswer(new Failure("not_found", "Nothing exists at this path.")));
  app.onError((thrown) => {
    const failure = asFailure(thrown);
    // A bug of ours must not look like a refusal.
    if (failure.code === "internal_error") console.error(thrown);
    return failureAnswer(failure);
  });
  const fetch = async (request: Request, ip = "192.0.2.1") => await app.fetch(request, { ip });
  return {
    ...gateway,
    fetch,
    refresh,
    async call(who, id, options = {}) {
      const answer = await answerOf(await fetch(requestOf(gateway, who, id, options), options.ip));
      if (consoleRoutes[id].method !== "GET") await refresh();
      return answer;
    },
    audit: (after = 0) =>
      database.kysely.selectFrom("audit_log").selectAll().where("seq", ">", after).orderBy("seq").execute(),
    async [Symbol.asyncDispose]() {
      await database.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

type Seeds = Pick<FixtureGateway, "acme" | "other" | "users">;

let seeds: Seeds | null = null;

/** Creating the users and workspaces takes more processor time than most tests, so a process does it once and copies the file. */
async function writeSeeded(path: string): Promise<Seeds> {
  await writeSeededFile(path);
  if (seeds === null) throw new Error("the seeds are missing");
  return seeds;
}

const writeSeededFile = migratedFile(async (database) => {
  await migrate(database);
  const clock = new FakeClock();
  const ids = createIds(clock);
  // Workspaces and users contain no secrets, so this key encrypts nothing.
  const vault = openVault({ masterKey: "0".repeat(64), dataDir: tmpdir() });
  const controlStore = createControlStore({ database, vault, clock, ids, kindDefaults });
  const people = createPeopleStore({ database, clock, ids });
  const acme = await controlStore.addWorkspace({ slug: "acme", name: "Acme" }, auditSource);
  const other = await controlStore.addWorkspace({ slug: "other", name: "Other" }, auditSource);
  const signIn = createHeaderSignIn(database, () => clock.now());
  seeds = { acme, other, users: await makeUsers(signIn, people, acme.id, other.id) };
  // Closing does not do this while there are prepared statements.
  await sql`pragma wal_checkpoint(truncate)`.execute(database.kysely);
});

async function makeUsers(
  signIn: HeaderSignIn,
  people: PeopleStore,
  acme: string,
  other: string,
): Promise<Record<FixtureUser, User>> {
  const made: [FixtureUser, User][] = [];
  for (const name of fixtureUsers) {
    const user = await signIn.createUser({ email: `${name}@example.com`, name });
    if (name === "administrator") await people.updateUser(user.id, { administrator: true }, auditSource);
    else if (name === "stranger") await people.setMember(other, user.id, "owner", auditSource);
    else if (name !== "newcomer") await people.setMember(acme, user.id, name, auditSource);
    made.push([name, user]);
  }
  return Object.fromEntries(made) as Record<FixtureUser, User>;
}

function requestOf<Id extends RouteId>(gateway: FixtureGateway, who: Who, id: Id, options: FixtureCall<Id>): Request {
  const { method } = consoleRoutes[id];
  const body = options.body ?? {};
  return new Request(fixtureOrigin + urlOf(consoleRoutes, id, options as never), {
    method,
    headers: {
      host: new URL(fixtureOrigin).host,
      ...callerHeaders(gateway, who),
      ...(method === "GET" ? {} : { "content-type": "application/json" }),
      ...options.headers,
    },
    ...(method === "GET" ? {} : { body: JSON.stringify(body) }),
  });
}

function callerHeaders({ users }: FixtureGateway, who: Who): Record<string, string> {
  if (who === "nobody") return {};
  if (typeof who === "object" && "token" in who) return { authorization: `Bearer ${who.token}` };
  const browser = { origin: fixtureOrigin, "sec-fetch-site": "same-origin" };
  if (typeof who === "string") return { ...browser, [sessionHeader]: users[who].id };
  if ("user" in who) return { ...browser, [sessionHeader]: who.user };
  return { ...browser, [sessionHeader]: `${users[who.stale as FixtureUser]?.id ?? who.stale} stale` };
}

async function answerOf(response: Response): Promise<FixtureAnswer> {
  const text = await response.text();
  const body = text === "" ? null : JSON.parse(text);
  const { status, headers } = response;
  return { status, headers, body, code: body?.error?.code ?? null, param: body?.error?.param ?? null };
}
