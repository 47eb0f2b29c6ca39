import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Secret } from "#core/index.ts";
import { sluice } from "../command-line.ts";
import { openPostgresFixture, type PostgresFixture } from "../postgres-fixture.ts";
import { onPostgres } from "../postgres-server.ts";
import { type AgentFixture, startAgentFixture } from "./agent-fixture.ts";
import { ScriptedAgent } from "./scripted-agent.ts";

const keys = { old: "the-old-master-key-0123456789abcdef", new: "the-new-master-key-0123456789abcdef" };

await onPostgres("replicas change their master key", () => {
  const folder = mkdtempSync(join(tmpdir(), "sluice-replicas-key-"));
  let fixture: PostgresFixture;
  let replicas: AgentFixture[] = [];
  const replica = (masterKey: string) =>
    startAgentFixture({ environment: { databaseUrl: new Secret(fixture.url), masterKey: new Secret(masterKey) } });
  const command = (masterKey: string, ...words: string[]) =>
    sluice(["master-key", ...words], folder, { SLUICE_DATABASE_URL: fixture.url, SLUICE_MASTER_KEY: masterKey });
  const statuses = (token: string) =>
    Promise.all(
      replicas.map(async ({ gateway }) => {
        await gateway.gateway.configSnapshot.refresh();
        return (await gateway.get("/v1/models", { authorization: `Bearer ${token}` })).status;
      }),
    );
  beforeAll(async () => {
    fixture = await openPostgresFixture();
    replicas = [await replica(keys.old), await replica(keys.old)];
  });
  afterAll(async () => {
    for (const each of replicas) await each.stop();
    await fixture?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  test("processes change the key one by one; sign-ins continue until the old key is retired and then end everywhere", async () => {
    const [first, second] = replicas;
    const agent = new ScriptedAgent(first?.gateway.url ?? "");
    const { body } = await agent.device();
    if (first !== undefined) expect(await first.approve(first.ada, body.user_code)).toBe(200);
    const token = (await agent.poll(body.device_code)).body.access_token;
    expect(await statuses(token)).toEqual([200, 200]);

    const file = join(folder, "new-key");
    writeFileSync(file, keys.new);
    expect(await command(keys.old, "rotate", "--new-key-file", file)).toMatchObject({ status: 0, stderr: "" });
    await second?.stop();
    replicas[1] = await replica(keys.new);
    expect(await statuses(token)).toEqual([200, 200]);
    const early = await command(keys.new, "retire");
    expect([early.status, early.stderr]).toEqual([2, expect.stringContaining("restart with the new master key first")]);

    await first?.stop();
    replicas[0] = await replica(keys.new);
    expect(await command(keys.new, "retire", "--grace", "1h")).toMatchObject({ status: 0, stderr: "" });
    expect(await statuses(token)).toEqual([200, 200]);
    expect(await command(keys.new, "retire", "--now")).toMatchObject({ status: 0, stderr: "" });
    expect(await statuses(token)).toEqual([401, 401]);
  });
});
