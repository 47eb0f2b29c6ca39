import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ConfigFile, ProviderConfig, RouteId } from "@sluice/contract";
import { consoleRoutes } from "@sluice/contract";
import { type RunningSimulator, serveSimulator } from "@sluice/simulator";
import { Hono } from "hono";
import { type ApiDependencies, createAsKey, serveApi } from "#api/index.ts";
import { BodyWork } from "#bodies/index.ts";
import { readEnvironment } from "#config/index.ts";
import { createMemoryCounter, createMemoryHealthBoard, createMemoryTries } from "#coordination/index.ts";
import { asFailure, Failure, type LedgerEntry, Secret } from "#core/index.ts";
import { createPeopleStore, type PeopleStore } from "#directory/index.ts";
import { AgentSignIn, Authenticator } from "#identity/index.ts";
import { createRecorder } from "#ledger/index.ts";
import { Admission, callCounter } from "#limits/index.ts";
import type { Observer, ReportStore, User } from "#ports/index.ts";
import { ProviderClient } from "#provider-client/index.ts";
import { Relay } from "#relay/index.ts";
import { Router } from "#routing/index.ts";
import { createSpool } from "#storage/index.ts";
import { systemChance } from "#system/index.ts";
import { createTransport } from "#upstream/index.ts";
import { failureAnswer } from "../../src/admin/admin-app.ts";
import type { Handlers } from "../../src/admin/handlers/handler.ts";
import { mediaHandlers } from "../../src/admin/handlers/media-handlers.ts";
import { type AdminEnv, mountHandlers } from "../../src/admin/handlers/mount-handlers.ts";
import { RequestTail } from "../../src/admin/index.ts";
import { withSecurityHeaders } from "../../src/admin/security-headers.ts";
import { mountStreamingRoutes } from "../../src/admin/streaming/mount-streaming-routes.ts";
import { ConfigSnapshotHolder } from "../../src/main/config-snapshot-holder.ts";
import { openControl } from "../../src/main/control.ts";
import { openMedia } from "../../src/main/media.ts";
import { callerConnections, callerMemory } from "../caller-memory.ts";
import { createHeaderSignIn, sessionHeader } from "../header-sign-in.ts";
import { noBackground } from "../no-background.ts";
import { silentExplainer } from "../silent-explainer.ts";
import { JournalInMemory } from "../simulation/journal-in-memory.ts";

const mediaUsers = ["newcomer", "stranger", "viewer", "member", "admin", "owner", "administrator"] as const;
export type MediaUser = (typeof mediaUsers)[number];
export const aliceSecret = "sk-alice-0123456789abcdefghij";

/** A gateway on a port of its own, with the media part of the admin API, in front of a simulated upstream. */
export interface MediaGround extends AsyncDisposable {
  readonly url: string;
  readonly dataDir: string;
  readonly simulator: RunningSimulator;
  readonly people: PeopleStore;
  readonly users: Readonly<Record<MediaUser, User>>;
  readonly entries: readonly LedgerEntry[];
  readonly tail: RequestTail;
  /** Keys of acme: one that the member made, one that the owner made; and one of the workspace other. */
  readonly keys: { readonly members: string; readonly owners: string; readonly others: string };
  readonly control: Awaited<ReturnType<typeof openControl>>;
  readonly backups: Backups;
  refresh(): Promise<void>;
  /** As a browser sends it for somebody with a session; `null`: without one. */
  as(who: MediaUser | `${MediaUser} stale` | null, path: string, init?: RequestInit): Promise<Response>;
  audit(): Promise<readonly { readonly actor: string; readonly action: string; readonly object: string }[]>;
}

/** A report store of which only the backup is asked: a file of which the test decides when its pieces come. */
interface Backups {
  made: number;
  done: number;
  body: () => ReadableStream<Uint8Array>;
}

export async function openMediaGround(more: More = {}): Promise<MediaGround> {
  const simulator = serveSimulator();
  const dataDir = mkdtempSync(join(tmpdir(), "sluice-media-"));
  const environment = readEnvironment({ SLUICE_DATA_DIR: dataDir, SLUICE_PORT: "0" });
  const control = await openControl(environment);
  const { clock, ids, vault, controlStore } = control;
  await controlStore.apply(configOf(simulator, more), "test");
  const people = createPeopleStore({ database: control.database, clock, ids });
  const signIn = createHeaderSignIn(control.database, () => clock.now());
  const configSnapshot = new ConfigSnapshotHolder(
    { controlStore, clock, observer: quiet },
    await controlStore.configSnapshot(),
  );
  const workspaceId = (slug: string) =>
    [...configSnapshot.current.workspaces.values()].find((one) => one.slug === slug)?.id ?? "";
  const users = await makeUsers(signIn, people, workspaceId);
  const newKey = async (slug: string, user: MediaUser) => {
    const secret = new Secret(`sk-of-${user}-0123456789abcdefghij`);
    const wanted = { name: `key of ${user}`, secret, createdBy: users[user].id };
    return (await controlStore.addKey(workspaceId(slug), wanted, auditSource)).id;
  };
  const keys = {
    members: await newKey("acme", "member"),
    owners: await newKey("acme", "owner"),
    others: await newKey("other", "stranger"),
  };
  const tail = new RequestTail({ controlStore, clock, configSnapshot: () => configSnapshot.current });
  const journal = new JournalInMemory();
  const entries: LedgerEntry[] = journal.entries;
  const observer = tail.before(quiet);
  const admission = new Admission({ counter: createMemoryCounter({ clock }), clock });
  const router = new Router({ board: createMemoryHealthBoard(clock), clock, chance: systemChance, observer });
  const transport = createTransport({ clock });
  const providerClient = new ProviderClient(transport, clock);
  const recorder = createRecorder({ journal, clock, ids, observer });
  const bodies = new BodyWork({ offload: null, newId: (prefix) => ids.next(prefix) });
  const memory = callerMemory();
  const relay = new Relay({
    memory,
    background: noBackground,
    sharesAccount: () => false,
    bodies,
    configSnapshot: () => configSnapshot.current,
    router,
    admission,
    recorder,
    journal,
    transport,
    providerClient,
    objectStore: { find: async () => [], put: async () => undefined },
    ids,
    clock,
    observer,
    explainer: silentExplainer,
  });
  const authenticator = new Authenticator({
    vault,
    keyStore: controlStore,
    configSnapshot: () => configSnapshot.current,
    clock,
    changesKnownAtMs: () => 0,
  });
  const spool = createSpool({ directory: join(dataDir, "spool"), nextName: () => ids.next("spool_") });
  const media = openMedia({
    environment,
    control,
    configSnapshot,
    router,
    admission,
    recorder,
    journal,
    transport,
    providerClient,
    spool,
    observer,
    explainer: silentExplainer,
    bodies,
    memory,
  });
  await media.start();
  const backups: Backups = { made: 0, done: 0, body: () => new Blob(["a whole database"]).stream() };
  const gateway = {
    ...media,
    controlStore,
    people,
    authenticator,
    tail,
    clock,
    observer,
    configSnapshot: () => configSnapshot.current,
    reports: reportsOf(backups),
    answerAs: (call: Parameters<ReturnType<typeof createAsKey>>[0]) => createAsKey(apiDependencies)(call),
  };
  const app = new Hono<AdminEnv>();
  const mount = { signIn, people, vault, configSnapshot: () => configSnapshot.current, publicUrl: null };
  mountStreamingRoutes(app, gateway, mount);
  mountHandlers(app, { ...unanswered(), ...mediaHandlers(gateway) }, mount);
  app.notFound(() => failureAnswer(new Failure("not_found", "There is nothing at this path.")));
  app.onError((thrown) => {
    const failure = asFailure(thrown);
    if (failure.code === "internal_error") console.error(thrown);
    return failureAnswer(failure);
  });
  const apiDependencies: ApiDependencies = {
    ...media,
    authenticator,
    agentSignIn: new AgentSignIn({
      agents: control.agents,
      vault,
      clock,
      openTries: createMemoryTries(clock),
      randomBytes: (size) => new Uint8Array(size),
      recheck: { check: async () => {} },
    }),
    agentSettings: async () => null,
    agentTelemetry: null,
    consoleUrl: () => null,
    relay,
    publicUrl: () => null,
    configSnapshot: () => configSnapshot.current,
    clock,
    ids,
    observer,
    explainer: silentExplainer,
    bodies,
    memory,
    connections: callerConnections(),
    spool,
    draining: () => false,
    leaving: () => false,
    unready: () => null,
    remark: () => null,
    metricsKey: null,
    metricsText: async () => "",
    metricsType: "text/plain",
    countCall: callCounter(admission),
    keyUsage: async () => [],
    periodSpend: async () => ({ day: 0, week: 0, month: 0 }),
    limitUsage: () => [],
    admin: async (request, info) => withSecurityHeaders(await app.fetch(request, info)),
  };
  const server = serveApi(apiDependencies, { hostname: "127.0.0.1", port: 0 });
  const url = `http://127.0.0.1:${server.port}`;
  return {
    url,
    dataDir,
    simulator,
    people,
    users,
    entries,
    tail,
    keys,
    control,
    backups,
    refresh: () => configSnapshot.refresh(),
    as(who, path, init = {}) {
      const headers = new Headers({ origin: url, "sec-fetch-site": "same-origin", cookie: "session=of-a-test" });
      const [name, age] = who?.split(" ") ?? [];
      if (name !== undefined) headers.set(sessionHeader, [users[name as MediaUser].id, age].join(" ").trim());
      for (const [given, value] of new Headers(init.headers)) headers.set(given, value);
      return fetch(url + path, { ...init, headers });
    },
    audit: () =>
      control.database.kysely.selectFrom("audit_log").select(["actor", "action", "object"]).orderBy("seq").execute(),
    async [Symbol.asyncDispose]() {
      tail.close();
      await server.stop(true);
      await media.stop();
      await control.close();
      simulator.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

const auditSource = { actor: "test", ip: null };

const quiet: Observer = {
  log: (level, message, fields) => {
    if (level === "error") console.error(message, fields);
  },
  attemptEnd: () => undefined,
  requestEnd: () => undefined,
  breakerChange: () => undefined,
  configReload: () => undefined,
};

type More = Pick<ConfigFile, "providers" | "models">;

function configOf(simulator: RunningSimulator, more: More): ConfigFile {
  const library = {
    access_key_id: "AKTESTEXAMPLE",
    secret_access_key: "SecretKeyExample==",
    openapi_url: new URL("/", simulator.url).href,
  };
  const upstream = (id: string, more: Partial<ProviderConfig> = {}): ProviderConfig => ({
    id,
    kind: "openai-compatible",
    base_url: simulator.url,
    api_key: `sk-upstream-of-${id}`,
    allow_private_network: true,
    ...more,
    settings: { forward_headers: ["x-sim-script"], ...more.settings },
  });
  return {
    providers: [upstream("main"), upstream("volc", { kind: "ark", settings: library }), ...(more.providers ?? [])],
    models: [
      { name: "gpt-test", deployments: [{ provider: "main", upstream_model: "u" }], price: { input: 1, output: 10 } },
      {
        name: "paint-test",
        type: "image",
        deployments: [{ provider: "main", upstream_model: "gpt-image-1" }],
        price: { image: 0.01 },
      },
      {
        name: "clip-test",
        type: "video",
        deployments: [{ provider: "volc", upstream_model: "doubao-seedance-2-0-260128" }],
        price: { output: 6 },
      },
      ...(more.models ?? []),
    ],
    workspaces: [
      { slug: "acme", groups: [{ name: "default" }], keys: [{ name: "alice", secret: aliceSecret }] },
      { slug: "other", groups: [{ name: "default" }] },
    ],
    settings: { unpriced: "allow" },
  };
}

async function makeUsers(
  signIn: ReturnType<typeof createHeaderSignIn>,
  people: PeopleStore,
  workspaceId: (slug: string) => string,
): Promise<Record<MediaUser, User>> {
  const made: [MediaUser, User][] = [];
  for (const name of mediaUsers) {
    const user = await signIn.createUser({ email: `${name}@example.com`, name, password: `password of ${name}` });
    if (name === "administrator") await people.makeFirstAdministrator(user.id, auditSource);
    else if (name === "stranger") await people.setMember(workspaceId("other"), user.id, "owner", auditSource);
    else if (name !== "newcomer") await people.setMember(workspaceId("acme"), user.id, name, auditSource);
    made.push([name, user]);
  }
  return Object.fromEntries(made) as Record<MediaUser, User>;
}

function reportsOf(backups: Backups): ReportStore {
  const only: Pick<ReportStore, "backup"> = {
    async backup() {
      backups.made++;
      return { bytes: backups.body(), size: 16, done: async () => void backups.done++ };
    },
  };
  return only as ReportStore;
}

function unanswered(): Handlers<RouteId> {
  const missing = () => {
    throw new Failure("not_found", "No handler of this call is under test.");
  };
  return Object.fromEntries(Object.keys(consoleRoutes).map((id) => [id, missing])) as unknown as Handlers<RouteId>;
}

export async function codeOf(response: Response): Promise<string> {
  const body = (await response.json()) as { error?: { code?: string } };
  return `${response.status} ${body.error?.code ?? ""}`.trim();
}
