import { describe, expect, test } from "bun:test";
import { serveSimulator } from "@sluice/simulator";
import { exportLedger } from "../../../../test/acceptance/ledger-rows.ts";
import { type Gateway, startGateway } from "../../../../test/acceptance/start-gateway.ts";
import { until } from "../../../../test/until.ts";
import { emptyPostgres } from "../../postgres-fixture.ts";
import { onPostgres } from "../../postgres-server.ts";
import { aliceKey } from "../../started-gateway.ts";
import { bearer, strangerKey } from "../files/files-gateway.ts";

/** Calls that create objects, what they cost, and the members of a response that would use the object. */
const creations = [
  {
    path: "/v1/containers",
    body: { name: "work" },
    price: 30_000_000,
    use: (container: string) => ({ tools: [{ type: "code_interpreter", container }] }),
  },
  {
    path: "/v1/vector_stores",
    body: { name: "docs" },
    price: 0,
    use: (id: string) => ({ tools: [{ type: "file_search", vector_store_ids: [id] }] }),
  },
  {
    path: "/v1/conversations",
    body: { items: [{ type: "message", role: "user", content: "hello" }] },
    price: 0,
    use: (conversation: string) => ({ conversation }),
  },
  {
    path: "/v1/skills",
    body: null,
    price: 0,
    use(skill_id: string) {
      const skills = [{ type: "skill_reference", skill_id }];
      return { tools: [{ type: "shell", environment: { type: "container_auto", skills } }] };
    },
  },
] as const;

describe("SQLite", () => suite(async () => null));
await onPostgres("PostgreSQL", () => suite(emptyPostgres));

function suite(open: () => Promise<(AsyncDisposable & { readonly url: string }) | null>): void {
  test("a creation that a kill interrupted has an entry with its operation, and its object belongs to no workspace", async () => {
    const vendor = startVendor();
    const database = await open();
    let gateway: Gateway | null = null;
    try {
      gateway = await startGateway({
        config: {
          providers: [
            { id: "main", kind: "openai", base_url: vendor.url, api_key: "sk-up", allow_private_network: true },
          ],
          models: [{ name: "gpt-test", deployments: [{ provider: "main" }], price: { input: 1, output: 10 } }],
          workspaces: [
            { slug: "acme", keys: [{ name: "alice", secret: aliceKey }] },
            { slug: "rival", keys: [{ name: "mallory", secret: strangerKey }] },
          ],
        },
        env: database === null ? {} : { SLUICE_DATABASE_URL: database.url },
      });
      const { url } = gateway;
      const create = (path: string, body: object | null) => fetch(`${url}${path}`, { method: "POST", ...sent(body) });
      const calls = creations.map(({ path, body }) => create(path, body).catch(() => null));
      const ids = await vendor.created(creations.length);
      await gateway.kill9();
      for (const call of await Promise.all(calls)) expect(call?.ok ?? false).toBe(false);
      vendor.answer();
      await gateway.restart();

      const rows = await exportLedger(gateway);
      for (const { path, price } of creations) {
        const operation = `POST ${path.slice("/v1".length)}`;
        const own = rows.filter((row) => "operation" in row && row.operation === operation);
        expect(own).toMatchObject([{ provider: "main", outcome: "interrupted", cost_nano_usd: price }]);
      }
      await Promise.all(
        creations.map(async ({ path, body, use }) => {
          const id = ids.get(path) ?? "";
          const statusFor = async (key: string, one = id) =>
            (await fetch(`${url}${path}/${one}`, { headers: bearer(key) })).status;
          const usedBy = async (key: string) => {
            const call = { model: "gpt-test", input: "hi", ...use(id) };
            return (await fetch(`${url}/v1/responses`, { method: "POST", ...sent(call, key) })).status;
          };
          const statuses = [strangerKey, aliceKey].flatMap((key) => [statusFor(key), usedBy(key)]);
          expect([path, ...(await Promise.all(statuses))]).toEqual([path, 404, 404, 404, 404]);
          // The call can be repeated: the workspace owns what the second one creates.
          const again = await create(path, body);
          const { id: second } = (await again.json()) as { readonly id: string };
          expect([again.status, second === id]).toEqual([200, false]);
          expect(await Promise.all([statusFor(aliceKey, second), statusFor(strangerKey, second)])).toEqual([200, 404]);
        }),
      );
    } finally {
      await gateway?.remove();
      await database?.[Symbol.asyncDispose]();
      await vendor.stop();
    }
  });
}

function sent(body: object | null, key = aliceKey): { headers: Record<string, string>; body: string | FormData } {
  if (body !== null) {
    return { headers: { ...bearer(key), "content-type": "application/json" }, body: JSON.stringify(body) };
  }
  const form = new FormData();
  form.append("files[]", new File(["---\nname: tables\ndescription: Makes tables.\n---\n"], "tables/SKILL.md"));
  return { headers: bearer(key), body: form };
}

/** A vendor that creates objects, and answers only after `answer()`. */
function startVendor() {
  const simulator = serveSimulator();
  const ids = new Map<string, string>();
  const answers = Promise.withResolvers<void>();
  const server = Bun.serve({
    idleTimeout: 0,
    port: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const answer = await fetch(`${simulator.url.replace(/\/v1$/, "")}${pathname}${search}`, {
        method: request.method,
        headers: request.headers,
        ...(request.body === null ? {} : { body: await request.arrayBuffer() }),
      });
      const body = await answer.text();
      if (answer.ok && request.method === "POST" && !ids.has(pathname)) {
        ids.set(pathname, (JSON.parse(body) as { readonly id: string }).id);
      }
      await answers.promise;
      return new Response(body, { status: answer.status, headers: { "content-type": "application/json" } });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}/v1`,
    /** Resolves to the first object of each path once `count` were created. */
    async created(count: number): Promise<ReadonlyMap<string, string>> {
      await until(() => ids.size === count);
      return ids;
    },
    answer: () => answers.resolve(),
    async stop(): Promise<void> {
      await server.stop(true);
      await simulator.stop();
    },
  };
}
