import { afterAll, beforeAll, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { bounds } from "#core/index.ts";
import { claudeGateway } from "../endpoints/messages/claude-gateway.ts";
import { type AgentFixture, startAgentFixture } from "./agent-fixture.ts";
import { ScriptedAgent } from "./scripted-agent.ts";

let fixture: AgentFixture;
let agent: ScriptedAgent;
let token: string;
beforeAll(async () => {
  fixture = await startAgentFixture({
    ...claudeGateway,
    workspace: { groups: [{ name: "default", models: ["claude-*"] }] },
  });
  agent = new ScriptedAgent(fixture.gateway.url);
  const { body } = await agent.device();
  await fixture.approve(fixture.ada, body.user_code);
  token = (await agent.poll(body.device_code)).body.access_token;
});
afterAll(() => fixture.stop());

const place = () => `/api/workspaces/${fixture.workspace}/groups/default/agent-settings`;
const setTo = (settings: unknown) => fixture.ada.call("PUT", place(), { settings });
const hashOfNothing = `"sha256:${createHash("sha256").update("{}").digest("hex")}"`;

test("agents send the hash of their settings: 404 without managed settings, then the settings, then 304", async () => {
  const first = await agent.bearer("/managed/settings", token, { "if-none-match": hashOfNothing });
  expect([first.status, first.body.error.type]).toEqual([404, "not_found_error"]);

  const settings = { model: "claude-test", env: { Z: "1", A: "2" }, permissions: { deny: ["Read(./.env)"] } };
  const set = await setTo(settings);
  expect(set.status).toBe(200);
  const served = await agent.bearer("/managed/settings", token, { "if-none-match": hashOfNothing });
  expect(served.status).toBe(200);
  expect(Object.keys(served.body)).toEqual(["uuid", "checksum", "settings"]);
  expect(served.body.settings).toEqual(settings);
  const sorted = '{"env":{"A":"2","Z":"1"},"model":"claude-test","permissions":{"deny":["Read(./.env)"]}}';
  const checksum = `sha256:${createHash("sha256").update(sorted).digest("hex")}`;
  expect([served.body.checksum, served.body.uuid, served.headers.get("etag")]).toEqual([
    checksum,
    checksum,
    `"${checksum}"`,
  ]);
  expect(served.headers.get("vary")).toBe("User-Agent");

  const same = await agent.bearer("/managed/settings", token, { "if-none-match": `"${checksum}"` });
  expect([same.status, same.body, same.headers.get("etag")]).toEqual([304, "", null]);
  expect((await agent.bearer("/managed/settings", token, { "if-none-match": "*" })).status).toBe(200);

  expect((await setTo({})).body.checksum).toBe(hashOfNothing.slice(1, -1));
  expect((await agent.bearer("/managed/settings", token, { "if-none-match": hashOfNothing })).status).toBe(304);
  expect((await setTo(null)).status).toBe(200);
  expect((await agent.bearer("/managed/settings", token)).status).toBe(404);
});

test("audits each change with its author, and nothing without a change", async () => {
  const rows = () =>
    fixture.gateway.control.database.kysely
      .selectFrom("audit_log")
      .select(["actor", "action", "object", "before", "after"])
      .where("object", "like", "agent settings%")
      .orderBy("seq")
      .execute();
  const before = (await rows()).length;
  await setTo({ a: 1, b: 2 });
  await setTo({ b: 2, a: 1 });
  await setTo({ a: 2 });
  const added = (await rows()).slice(before);
  expect(added.map(({ actor, action, object }) => [actor, action, object])).toEqual([
    ["ada@example.com", "create", "agent settings acme/default"],
    ["ada@example.com", "update", "agent settings acme/default"],
  ]);
  expect(JSON.parse(added[1]?.before ?? "").settings).toEqual({ a: 1, b: 2 });
});

test("keeps versions with author and time; they can be read and restored, and the oldest are deleted", async () => {
  await setTo(null);
  const start = (await fixture.ada.call("GET", place())).body;
  expect([start.settings, start.updated_by]).toEqual([null, "ada@example.com"]);
  const { body: set } = await setTo({ model: "claude-test", availableModels: ["claude-test"], made: true });
  expect([set.version, set.updated_by]).toEqual([start.version + 1, "ada@example.com"]);
  expect(set.warnings).toEqual([{ path: "made", code: "unknown", expected: [] }]);
  await setTo({ model: "claude-other" });
  const { body: list } = await fixture.ada.call("GET", `${place()}/versions`);
  expect(list.data.slice(0, 3).map(({ version, by }: { version: number; by: string }) => [version, by])).toEqual(
    [2, 1, 0].map((more) => [start.version + more, "ada@example.com"]),
  );
  expect(list.data[2].checksum).toBeNull();
  const { body: one } = await fixture.ada.call("GET", `${place()}/versions/${set.version}`);
  expect([one.settings.made, one.checksum]).toEqual([true, set.checksum]);
  const restored = await setTo(one.settings);
  expect([restored.body.version, restored.body.checksum]).toEqual([set.version + 2, set.checksum]);
  for (const version of ["0", "99999", "x", "1e0"]) {
    expect((await fixture.ada.call("GET", `${place()}/versions/${version}`)).status).toBe(404);
  }
  const { kysely } = fixture.gateway.control.database;
  await kysely
    .updateTable("agent_settings_versions")
    .set((eb) => ({ version: eb("version", "+", bounds.agentSettingsVersionsMax) }))
    .where("version", "=", restored.body.version)
    .execute();
  await setTo({ model: "claude-last" });
  const left = (await fixture.ada.call("GET", `${place()}/versions`)).body.data;
  expect(left[0].version).toBe(restored.body.version + bounds.agentSettingsVersionsMax + 1);
  expect(left).toHaveLength(2);
});

test("refuses a member of a wrong type with its path, and changes nothing", async () => {
  await setTo({ model: "claude-test" });
  const answer = await setTo({ permissions: { deny: ["Read", 5] }, env: { A: 1 } });
  expect([answer.status, answer.body.error.param]).toEqual([400, "settings.permissions.deny[1]"]);
  expect(answer.body.error.message).toContain("must be of type string. 1 more are wrong.");
  expect((await fixture.ada.call("GET", place())).body.settings).toEqual({ model: "claude-test" });
});

test("a preview shows which settings a person gets and why: by the group of their key or of a first sign-in", async () => {
  await setTo({ model: "claude-test" });
  const member = await fixture.invited("petra", "member");
  const preview = (person: string) =>
    fixture.ada.call("GET", `/api/workspaces/acme/agent-settings/preview?person=${encodeURIComponent(person)}`);
  const first = await preview(member.userId);
  expect(first.body).toMatchObject({
    person: { email: "petra@example.com" },
    group: { name: "default" },
    by: "first_sign_in",
    may_sign_in: true,
    settings: { model: "claude-test" },
  });
  const { body: device } = await agent.device();
  expect(await fixture.approve(member, device.user_code)).toBe(200);
  const group = await fixture.ada.call("POST", `/api/workspaces/${fixture.workspace}/groups`, {
    name: "narrow",
    models: [],
  });
  const keys = (await fixture.ada.call("GET", `/api/workspaces/${fixture.workspace}/keys`)).body.data;
  const key = keys.find(({ name }: { name: string }) => name === "petra@example.com");
  await fixture.ada.call("PATCH", `/api/workspaces/${fixture.workspace}/keys/${key.id}`, {
    group: group.body.id,
    enabled: false,
  });
  expect((await preview("Petra@example.com")).body).toMatchObject({
    group: { name: "narrow" },
    by: "key",
    may_sign_in: false,
    settings: null,
    checksum: null,
  });
  expect((await preview("nobody@example.com")).status).toBe(404);
  expect(
    (await member.call("GET", `/api/workspaces/${fixture.workspace}/agent-settings/preview?person=petra`)).status,
  ).toBe(403);
});

test("only administrators set commands that run on people's machines; limits nesting", async () => {
  const owner = await fixture.invited("olga", "owner");
  expect((await owner.call("GET", place())).status).toBe(200);
  expect((await owner.call("PUT", place(), { settings: {} })).status).toBe(403);
  let deep: unknown = 1;
  for (let level = 0; level <= bounds.agentSettingsDepthMax; level++) deep = { deep };
  expect((await setTo(deep)).status).toBe(400);
  expect((await setTo([])).status).toBe(400);
  expect((await fixture.ada.call("PUT", place().replace("/default/", "/nobody/"), { settings: {} })).status).toBe(404);
});

test("lists models in Anthropic's format for an agent without a version header, only those the person may call", async () => {
  const { status, body } = await agent.bearer("/v1/models?limit=1000", token);
  expect(status).toBe(200);
  expect(body.data).toMatchObject([{ type: "model", id: "claude-test", display_name: "claude-test" }]);
  expect(body.has_more).toBe(false);
});

test.each(["/v1/metrics", "/v1/logs", "/v1/traces"])("%s accepts protobuf and junk from agents only", async (path) => {
  for (const body of [new Uint8Array([10, 255, 0, 7]), "junk", ""]) {
    const answer = await fetch(fixture.gateway.url + path, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/x-protobuf" },
      body,
    });
    expect([answer.status, await answer.text()]).toEqual([200, ""]);
  }
  const large = await fetch(fixture.gateway.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
    body: new Uint8Array(bounds.agentTelemetryBytesMax + 1),
  });
  expect(large.status).toBe(413);
  const nobody = await fetch(fixture.gateway.url + path, { method: "POST", body: "x" });
  expect([nobody.status, nobody.headers.get("x-should-retry")]).toEqual([401, "false"]);
});

test("serves the other endpoints that an agent calls", async () => {
  for (const path of ["/", "/api/hello"]) {
    expect((await fetch(fixture.gateway.url + path, { method: "HEAD" })).status).toBe(200);
  }
  const protocol = await fetch(`${fixture.gateway.url}/protocol`);
  expect(protocol.headers.get("content-type")).toStartWith("text/markdown");
  const text = await protocol.text();
  for (const path of ["/oauth/token", "/managed/settings", "/user/bootstrap"]) expect(text).toContain(path);
  const bootstrap = await agent.bearer("/user/bootstrap", token);
  expect([bootstrap.status, bootstrap.body.error.type]).toEqual([404, "not_found_error"]);
  for (const path of ["/user/bootstrap", "/managed/settings"]) {
    const refused = await fetch(fixture.gateway.url + path);
    expect([refused.status, refused.headers.get("x-should-retry")]).toEqual([401, "false"]);
  }
});
