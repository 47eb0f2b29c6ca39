import { afterAll, beforeAll, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { readEnvironment } from "#config/index.ts";
import { until } from "../../../test/until.ts";
import { aliceKey } from "../started-gateway.ts";
import { Collector } from "../telemetry/collector.ts";
import { type AgentFixture, type Person, startAgentFixture } from "./agent-fixture.ts";
import { ScriptedAgent } from "./scripted-agent.ts";

let collector: Collector;
let fixture: AgentFixture;
let bob: Person;
let token: string;
beforeAll(async () => {
  collector = new Collector();
  // The gateway's own telemetry is off, so everything collected comes from agents.
  const { otlp, agentTelemetry } = readEnvironment({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_TIMEOUT: "60000",
    OTEL_TRACES_EXPORTER: "none",
    OTEL_BLRP_SCHEDULE_DELAY: "3600000",
    OTEL_METRIC_EXPORT_INTERVAL: "3600000",
    SLUICE_AGENT_TELEMETRY: "relay",
  });
  fixture = await startAgentFixture({ environment: { otlp, agentTelemetry } });
  bob = await fixture.invited("bob", "member");
  const agent = new ScriptedAgent(fixture.gateway.url);
  const { body } = await agent.device();
  await fixture.approve(bob, body.user_code);
  token = (await agent.poll(body.device_code)).body.access_token;
});
afterAll(async () => {
  await fixture.stop();
  await collector.stop();
});

const eve = { key: "user.email", value: { stringValue: "eve@example.com" } };
const oneLog = (text: string) => ({
  resourceLogs: [
    {
      resource: { attributes: [{ key: "service.name", value: { stringValue: "claude-code" } }, eve] },
      scopeLogs: [{ logRecords: [{ severityNumber: 9, body: { stringValue: text }, attributes: [eve] }] }],
    },
  ],
});

const send = async (path: string, body: Uint8Array | string, headers: Record<string, string> = {}, secret = token) => {
  const sent = { authorization: `Bearer ${secret}`, "content-type": "application/json", ...headers };
  const answer = await fetch(fixture.gateway.url + path, { method: "POST", headers: sent, body });
  return [answer.status, await answer.text()];
};

const counted = async (name: string) => {
  const text = await (await fixture.gateway.get("/metrics")).text();
  return Number(new RegExp(`^sluice_agent_telemetry_${name}_total (\\S+)$`, "m").exec(text)?.[1]);
};

const logged = (text: string) => collector.logs.find(({ body }) => body === text);

test("forwards an agent's telemetry, compressed or not, with the attributes of its person", async () => {
  expect(await send("/v1/logs", JSON.stringify(oneLog("plain")))).toEqual([200, ""]);
  const packed = gzipSync(JSON.stringify(oneLog("packed")));
  expect(await send("/v1/logs", packed, { "content-encoding": "gzip" })).toEqual([200, ""]);
  expect(await send("/v1/logs", JSON.stringify(oneLog("a key's")), {}, aliceKey)).toEqual([200, ""]);
  await until(() => logged("plain") !== undefined && logged("packed") !== undefined && logged("a key's") !== undefined);
  expect(logged("packed")?.attributes).toEqual({ "user.email": "bob@example.com" });
  // A key without an owner: no person is named.
  expect(logged("a key's")?.attributes).toEqual({});
  expect(collector.resources).toContainEqual({
    "service.name": "claude-code",
    "user.id": bob.userId,
    "user.email": "bob@example.com",
    "sluice.workspace": "acme",
    "sluice.workspace.id": fixture.workspace,
    "sluice.group": "default",
    "sluice.key.id": expect.any(String),
  });
  expect(JSON.stringify(collector.resources)).not.toContain("eve");
});

test("forwards protobuf as protobuf, counts malformed messages, and always answers 200", async () => {
  const lost = await counted("lost");
  const binary = { "content-type": "application/x-protobuf" };
  // An empty resource list, then an empty resource.
  expect(await send("/v1/metrics", Uint8Array.from([10, 0]), binary)).toEqual([200, ""]);
  expect(await send("/v1/metrics", "junk", binary)).toEqual([200, ""]);
  expect(await send("/v1/metrics", "junk", { ...binary, "content-encoding": "gzip" })).toEqual([200, ""]);
  expect(await send("/v1/metrics", "junk", { "content-encoding": "made-up" })).toEqual([200, ""]);
  // No collector accepts these.
  expect(await send("/v1/traces", Uint8Array.from([10, 0]), binary)).toEqual([200, ""]);
  await until(async () => (await counted("lost")) === lost + 1);
  await until(() => collector.arrived.some(({ path }) => path === "/v1/metrics"));
  expect(collector.arrived.some(({ path }) => path === "/v1/traces")).toBe(false);
});

test("counts what a collector refuses, without an effect on the agent", async () => {
  const lost = await counted("lost");
  // A collector that is not called again.
  collector.refusal = () => new Response(null, { status: 400 });
  expect(await send("/v1/logs", JSON.stringify(oneLog("never")))).toEqual([200, ""]);
  await until(async () => (await counted("lost")) === lost + 1);
  collector.refusal = null;
  expect(await send("/v1/logs", JSON.stringify(oneLog("again")))).toEqual([200, ""]);
  await until(() => logged("again") !== undefined);
  expect(logged("never")).toBeUndefined();
});

test("a preview equals the settings that the person's agent gets, by rules as by a key", async () => {
  const { gateway, ada, workspace } = fixture;
  const { rights } = gateway.control;
  const groups = `/api/workspaces/${workspace}/groups`;
  expect((await ada.call("POST", groups, { name: "gold" })).status).toBe(201);
  const settings = { model: "claude-gold", env: { Z: "1", OTEL_METRICS_EXPORTER: "none" } };
  expect((await ada.call("PUT", `${groups}/gold/agent-settings`, { settings })).status).toBe(200);
  const by = { actor: "test", ip: null };
  const rule = { name: "heavy users", claim: "groups", contains: "heavy", workspace: "acme", group: "gold" };
  await rights.putRules("oidc:corp", [rule], by);
  const carla = await fixture.invited("carla", "member");
  const say = (claims: object) =>
    rights.applyClaims({ userId: carla.userId, source: "oidc:corp", claims: { groups: claims } }, by);
  const preview = async (person: Person) => {
    const path = `/api/workspaces/acme/agent-settings/preview?person=${person.userId}`;
    const text = await (await fetch(gateway.url + path, { headers: { cookie: ada.cookie } })).text();
    const { group, by: why, may_sign_in: may } = JSON.parse(text);
    return { text, why: [group.name, why, may] };
  };
  const expectServed = async (person: Person, secret: string) => {
    const served = await fetch(`${gateway.url}/managed/settings`, { headers: { authorization: `Bearer ${secret}` } });
    const text = await served.text();
    const own = text.slice(text.indexOf('"settings":'), -1);
    expect(own).toContain(`"OTEL_EXPORTER_OTLP_ENDPOINT":"${gateway.url}"`);
    expect((await preview(person)).text).toContain(`${own},"checksum":${served.headers.get("etag")}`);
  };
  expect((await preview(carla)).why).toEqual(["default", "first_sign_in", true]);
  await say(["heavy"]);
  const before = await preview(carla);
  expect(before.why).toEqual(["gold", "rules", true]);
  const agent = new ScriptedAgent(gateway.url);
  const { body } = await agent.device();
  expect(await fixture.approve(carla, body.user_code)).toBe(200);
  const hers = (await agent.poll(body.device_code)).body.access_token;
  const after = await preview(carla);
  expect(after.why).toEqual(["gold", "key", true]);
  expect(after.text).toBe(before.text.replace('"by":"rules"', '"by":"key"'));
  await expectServed(carla, hers);
  await expectServed(bob, token);
  // Administrators sign agents in to any workspace without being members.
  expect((await preview(ada)).why).toEqual(["default", "first_sign_in", true]);
});

test("agents are configured to send telemetry here unless an administrator overrides it", async () => {
  const agent = new ScriptedAgent(fixture.gateway.url);
  const settingsNow = () => agent.bearer("/managed/settings", token);
  const env = {
    CLAUDE_CODE_ENABLE_TELEMETRY: "1",
    OTEL_EXPORTER_OTLP_ENDPOINT: fixture.gateway.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf",
    OTEL_LOGS_EXPORTER: "otlp",
    OTEL_METRICS_EXPORTER: "otlp",
    OTEL_TRACES_EXPORTER: "none",
  };
  const alone = (await settingsNow()).body;
  expect(alone.settings).toEqual({ env });
  expect(alone.checksum).toBe(`sha256:${createHash("sha256").update(JSON.stringify({ env })).digest("hex")}`);
  const settings = { model: "claude-test", env: { OTEL_LOGS_EXPORTER: "none", A: "1" } };
  const place = `/api/workspaces/${fixture.workspace}/groups/default/agent-settings`;
  expect((await fixture.ada.call("PUT", place, { settings })).status).toBe(200);
  const both = await settingsNow();
  expect(both.body.settings).toEqual({ model: "claude-test", env: { ...env, OTEL_LOGS_EXPORTER: "none", A: "1" } });
  const same = { "if-none-match": both.headers.get("etag") ?? "" };
  expect((await agent.bearer("/managed/settings", token, same)).status).toBe(304);
});
