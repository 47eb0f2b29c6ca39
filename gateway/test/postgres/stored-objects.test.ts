import { expect, test } from "bun:test";
import { Secret } from "#core/index.ts";
import { startVendor } from "../endpoints/providers/vendor.ts";
import { openPostgresFixture } from "../postgres-fixture.ts";
import { onPostgres } from "../postgres-server.ts";
import { aliceKey, type StartedGateway, startGateway, upstream } from "../started-gateway.ts";

const malloryKey = "sk-mallory-0123456789abcdefghij";

await onPostgres("several processes", () => {
  test("another process finds an object at once, at the account that stores it", async () => {
    await using fixture = await openPostgresFixture();
    const vendor = await startVendor();
    vendor.answer = (_, response) => {
      response.setHeader("content-type", "application/json");
      response.end('{"id":"file_made123","type":"file","size_bytes":400}');
    };
    const environment = { databaseUrl: new Secret(fixture.url), masterKey: new Secret("k".repeat(43)) };
    const accounts = ["one", "two", "three"];
    const key = (name: string, secret: string) => ({
      groups: [{ name: "default", pass_through: ["files"] }],
      keys: [{ name, secret, pass_through: ["files"] }],
      pass_through: ["files"],
    });
    const start = (simulator?: StartedGateway["simulator"]) =>
      startGateway({
        environment,
        models: [{ name: "claude", deployments: accounts.map((provider) => ({ provider, upstream_model: "c" })) }],
        providers: (own) => [
          ...accounts.map((id) => upstream(id, simulator ?? own, { kind: "anthropic" })),
          upstream("files", simulator ?? own, { kind: "anthropic", base_url: vendor.url }),
        ],
        workspace: key("alice", aliceKey),
        moreWorkspaces: [{ slug: "rival", ...key("mallory", malloryKey) }],
      });
    const first = await start();
    const second = await start(first.simulator);
    try {
      const headers = { "anthropic-version": "2023-06-01", "anthropic-beta": "message-threads-2026-08-12" };
      const say = (thread: object) => ({
        model: "claude",
        max_tokens: 9,
        messages: [{ role: "user", content: "x" }],
        thread,
      });
      let thread: object = { type: "create" };
      let account: string | null = null;
      for (const gateway of [first, second, first, second, first, second]) {
        const answer = await gateway.post("/v1/messages", say(thread), { headers });
        expect([answer.status, account ?? answer.headers.get("x-sluice-provider")]).toEqual([
          200,
          answer.headers.get("x-sluice-provider"),
        ]);
        account = answer.headers.get("x-sluice-provider");
        thread = { type: "continue", previous_message_id: ((await answer.json()) as { id: string }).id };
      }
      const path = "/v1/providers/files/files";
      expect((await first.post(path, { any: "thing" })).status).toBe(200);
      const status = async (gateway: StartedGateway, secret: string): Promise<number> =>
        (await gateway.get(`${path}/file_made123`, { authorization: `Bearer ${secret}` })).status;
      // All at once: the gateway waits for an unknown id, since another process may just have created it.
      const [ofRival, ...statuses] = await Promise.all([
        second.post("/v1/messages", say(thread), { headers, key: malloryKey }),
        status(second, aliceKey),
        status(second, malloryKey),
      ]);
      expect([ofRival.status, ...statuses]).toEqual([404, 200, 404]);
    } finally {
      await second.stop();
      await first.stop();
      vendor.stop();
    }
  });
});
