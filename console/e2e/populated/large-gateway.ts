import { join } from "node:path";
import type { LedgerEntry } from "../../../gateway/src/core/index.ts";
import { createLedgerStore, openDatabase } from "../../../gateway/src/storage/index.ts";
import { ledgerEntry } from "../../../gateway/test/conformance/store-fixture.ts";
import { type OpenedConsole, openConsole } from "../opened-console.ts";
import { password } from "../signed-in-user.ts";

export const modelsMany = 300;
export const keysMany = 800;
const peopleMany = 40;
const requestsMany = 9_000;
const daysMany = 90;
const at60 = (text: string) => text.padEnd(60, "-and-longer-than-any-real-name");
const provider = at60("account-of-the-research-department");
const params = { workspace: "large" };

export interface LargeGateway extends OpenedConsole {
  /** The one provider of all models. */
  readonly provider: string;
  /** The newest key. */
  readonly key: string;
  readonly secret: string;
  /** Name of a member who owns keys. */
  readonly leaver: string;
}

/**
 * The volume of a company: hundreds of models and keys with names of sixty characters that begin alike, forty people, and three months of
 * requests. The config file and the ledger store are the fastest ways to create these.
 */
export async function startLargeGateway(): Promise<LargeGateway> {
  const opened = await openConsole({ config: configFor });
  const { ada, gateway } = opened;
  await addRequests(gateway.dataDir);
  const leaver = await addLeaver(opened);
  const { key, secret } = await ada.call("keys.create", { params, body: { name: "created here" } });
  return { ...opened, provider, key: key.id, secret, leaver };
}

/** Users of the config file cannot be offboarded in the console, so one joins by invitation. */
async function addLeaver({ ada }: OpenedConsole): Promise<string> {
  const email = "lee@example.com";
  const { link } = await ada.call("invitations.create", { params, body: { email, role: "member" } });
  const token = new URL(link).hash.split("=")[1] ?? "";
  await ada.call("invitation.accept", { body: { token, name: "Lee Leaver", password } });
  const { data } = await ada.call("users.list", { query: { search: email } });
  for (const name of ["lee's laptop", "lee's agent"]) {
    await ada.call("keys.create", { params, body: { name, owner: data[0]?.id } });
  }
  return "Lee Leaver";
}

/** Writes requests of the last months with the ledger store, so that their totals are real. */
async function addRequests(dataDir: string): Promise<void> {
  const database = openDatabase({ path: join(dataDir, "sluice.db") });
  try {
    const keys = await database.kysely.selectFrom("api_keys").select(["id", "workspace_id", "group_id"]).execute();
    const people = await database.kysely.selectFrom("auth_users").select("id").execute();
    const store = createLedgerStore(database);
    const now = Date.now();
    const batch = Math.ceil(requestsMany / daysMany);
    for (let first = 0; first < requestsMany; first += batch) {
      const entries = Array.from({ length: batch }, (_, at): LedgerEntry => {
        const n = first + at;
        // A few keys and models cause most requests.
        const key = keys[Math.floor(keys.length * shareOf(n, "key") ** 3)];
        const person = shareOf(n, "owned") < 0.5 ? people[n % people.length] : undefined;
        const model = modelName(Math.floor(modelsMany * shareOf(n, "model") ** 3));
        const failed = shareOf(n, "failed") < 0.03;
        return ledgerEntry(String(n).padStart(26, "0"), {
          // All requests of a day are in one hour of it.
          at: now - daysMany * dayMs + Math.floor(n / batch) * dayMs + at * 1_000,
          ...{ workspaceId: key?.workspace_id ?? "", groupId: key?.group_id ?? "", keyId: key?.id ?? "" },
          ...{ model, requestedModel: model, provider, upstreamModel: model, warnings: [] },
          ...(person === undefined ? {} : { personId: person.id }),
          ...(failed ? { outcome: "failed", httpStatus: 502, errorCode: "upstream_error" } : {}),
          costNanoUsd: 100_000 + Math.floor(900_000 * shareOf(n, "cost")),
        });
      });
      await store.insert(entries);
    }
  } finally {
    await database.close();
  }
}

const dayMs = 86_400_000;

/** A number in [0, 1), the same in every run. */
function shareOf(n: number, purpose: string): number {
  return Bun.hash.xxHash32(`${purpose} ${n}`) / 2 ** 32;
}

const number = (at: number) => String(at).padStart(4, "0");
const modelName = (at: number) => at60(`acme-research/experiment-${number(at)}-mini`);

function configFor(upstream: string): string {
  const many = <Item>(count: number, item: (at: number) => Item) => Array.from({ length: count }, (_, at) => item(at));
  const models = many(modelsMany, (at) => ({
    name: modelName(at),
    deployments: [{ provider }],
    price: { input: 1, output: 2 },
  }));
  const keys = many(keysMany, (at) => ({ name: at60(`pipeline-of-team-${number(at)}`) }));
  const users = many(peopleMany - 2, (at) => ({
    email: `person-${number(at)}@example.com`,
    name: `Person ${number(at)}`,
    workspaces: [{ workspace: "large", role: "member" }],
  }));
  return JSON.stringify({
    providers: [{ id: provider, kind: "openai-compatible", base_url: upstream, allow_private_network: true }],
    models,
    users,
    workspaces: [
      { slug: "large", name: at60("The research department"), models: ["*"], groups: [{ name: "default" }], keys },
    ],
  });
}
