import type { ConfigFile, ProviderConfig } from "@sluice/contract";
import type { RunningSimulator } from "@sluice/simulator";
import type { RequestTail } from "#admin/index.ts";
import { type LedgerEntry, Secret } from "#core/index.ts";
import type { PeopleStore } from "#directory/index.ts";
import type { User } from "#ports/index.ts";
import type { openControl } from "../../src/main/control.ts";
import { createHeaderSignIn, type HeaderSignIn, sessionHeader } from "../header-sign-in.ts";
import { reportingHere } from "../reporting-here.ts";
import { aliceKey, startGateway, upstream } from "../started-gateway.ts";

const mediaUsers = ["newcomer", "stranger", "viewer", "member", "admin", "owner", "administrator"] as const;
export type MediaUser = (typeof mediaUsers)[number];
export const aliceSecret = aliceKey;

/** A whole gateway with a simulated upstream. A header selects the user of a request. */
export interface MediaFixture extends AsyncDisposable {
  readonly url: string;
  readonly dataDir: string;
  readonly simulator: RunningSimulator;
  readonly users: Readonly<Record<MediaUser, User>>;
  /** Ledger entries, oldest first, once everything settled so far is stored. */
  entries(): Promise<readonly LedgerEntry[]>;
  /** Resolves when captured requests are stored. */
  written(): Promise<void>;
  readonly tail: Pick<RequestTail, "listeners">;
  /** Two keys of acme, created by the member and by the owner, and one of the workspace `other`. */
  readonly keys: { readonly members: string; readonly owners: string; readonly others: string };
  readonly control: Awaited<ReturnType<typeof openControl>>;
  readonly backups: Backups;
  /** Sends a request as a user's browser does; `null`: without a session. */
  as(who: MediaUser | `${MediaUser} stale` | null, path: string, init?: RequestInit): Promise<Response>;
  audit(): Promise<readonly { readonly actor: string; readonly action: string; readonly object: string }[]>;
}

/** Backups that a test delivers piece by piece. */
interface Backups {
  made: number;
  done: number;
  body: () => ReadableStream<Uint8Array>;
}

export async function openMediaFixture(more: More = {}): Promise<MediaFixture> {
  const backups: Backups = { made: 0, done: 0, body: () => new Blob(["a whole database"]).stream() };
  const started = await startGateway({
    providers: (simulator) => providersOf(simulator, more),
    models: [...models, ...(more.models ?? [])],
    ...(more.databaseUrl === undefined ? {} : { environment: { databaseUrl: new Secret(more.databaseUrl) } }),
    moreWorkspaces: [{ slug: "other", groups: [{ name: "default" }] }],
    openSignIn: ({ control }) => createHeaderSignIn(control.database, () => control.clock.now()),
    openReports: async (options) => ({
      ...(await reportingHere(options)),
      async backup() {
        backups.made++;
        return { bytes: backups.body(), size: 16, done: async () => void backups.done++ };
      },
    }),
  });
  const { url, dataDir, simulator, gateway, control } = started;
  const { controlStore, people } = control;
  const workspaceId = (slug: string) =>
    [...gateway.configSnapshot.current.workspaces.values()].find((one) => one.slug === slug)?.id ?? "";
  const signIn = createHeaderSignIn(control.database, () => control.clock.now());
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
  return {
    ...{ url, dataDir, simulator, users, keys, control, backups, tail: gateway.tail },
    entries: async () => (await started.entries()).toReversed(),
    written: () => gateway.explainer.written(),
    as(who, path, init = {}) {
      const headers = new Headers({ origin: url, "sec-fetch-site": "same-origin", cookie: "session=of-a-test" });
      const [name, age] = who?.split(" ") ?? [];
      if (name !== undefined) headers.set(sessionHeader, [users[name as MediaUser].id, age].join(" ").trim());
      for (const [given, value] of new Headers(init.headers)) headers.set(given, value);
      return fetch(url + path, { ...init, headers });
    },
    audit: () =>
      control.database.kysely.selectFrom("audit_log").select(["actor", "action", "object"]).orderBy("seq").execute(),
    [Symbol.asyncDispose]: () => started.stop(),
  };
}

const auditSource = { actor: "test", ip: null };

interface More extends Pick<ConfigFile, "providers" | "models"> {
  /** Default: SQLite. */
  readonly databaseUrl?: string;
}

function providersOf(simulator: RunningSimulator, more: More): ProviderConfig[] {
  const settings = {
    access_key_id: "AKTESTEXAMPLE",
    secret_access_key: "SecretKeyExample==",
    openapi_url: new URL("/", simulator.url).href,
  };
  return [
    upstream("main", simulator),
    upstream("volc", simulator, { kind: "ark", settings }),
    ...(more.providers ?? []),
  ];
}

const models: NonNullable<ConfigFile["models"]> = [
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
];

async function makeUsers(
  signIn: HeaderSignIn,
  people: PeopleStore,
  workspaceId: (slug: string) => string,
): Promise<Record<MediaUser, User>> {
  const made: [MediaUser, User][] = [];
  for (const name of mediaUsers) {
    const user = await signIn.createUser({ email: `${name}@example.com`, name });
    if (name === "administrator") await people.updateUser(user.id, { administrator: true }, auditSource);
    else if (name === "stranger") await people.setMember(workspaceId("other"), user.id, "owner", auditSource);
    else if (name !== "newcomer") await people.setMember(workspaceId("acme"), user.id, name, auditSource);
    made.push([name, user]);
  }
  return Object.fromEntries(made) as Record<MediaUser, User>;
}

export async function codeOf(response: Response): Promise<string> {
  const body = (await response.json()) as { error?: { code?: string } };
  return `${response.status} ${body.error?.code ?? ""}`.trim();
}
