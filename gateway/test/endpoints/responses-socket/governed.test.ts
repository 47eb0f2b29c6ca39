import { afterAll, beforeAll, expect, test } from "bun:test";
import { bounds, Secret } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";
import { systemClock } from "#system/index.ts";
import { until } from "../../../../test/until.ts";
import { aliceKey, type StartedGateway } from "../../started-gateway.ts";
import { type Frame, openSocket, socketGateway } from "./socket-ground.ts";

const auditSource = { actor: "test", ip: null };
const onceKey = "sk-once-0123456789abcdefghij";
const poorKey = "sk-poor-0123456789abcdefghij";
const leaverKeys = ["sk-leaver-0123456789abcdefghi", "sk-leaver-1123456789abcdefghi"] as const;

/** What the sockets look at now and then is looked at when a test says so. */
const watches = new Set<() => void>();
let laterMs = 0;
const clock: Clock = {
  now: () => systemClock.now(),
  monotonic: () => systemClock.monotonic() + laterMs,
  after(delayMs, act) {
    if (delayMs !== bounds.socketWatchMs) return systemClock.after(delayMs, act);
    watches.add(act);
    return () => watches.delete(act);
  },
};
function look(): void {
  for (const act of [...watches]) {
    watches.delete(act);
    act();
  }
}

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await socketGateway({
    clock,
    keys: [
      { name: "alice", secret: aliceKey },
      { name: "once", secret: onceKey, limits: { rpm: 1 } },
      { name: "poor", secret: poorKey, budget: { usd: 0.000001, period: "day" } },
    ],
  });
  const { controlStore } = gateway.control;
  const [workspace] = (await controlStore.workspaces({ ids: null }, null, 1)).data;
  for (const [index, secret] of leaverKeys.entries()) {
    const key = { name: `leaver-${index}`, secret: new Secret(secret), createdBy: null };
    await controlStore.addKey(workspace?.id ?? "", key, auditSource);
  }
});
afterAll(() => gateway.stop());

const ask = { model: "openai", store: false, input: "hi" };
const errorOf = (frames: readonly Frame[]): Record<string, unknown> => ({
  status: frames.at(-1)?.["status"],
  ...(frames.at(-1)?.["error"] as object),
});
const headersOf = (frames: readonly Frame[]): Record<string, string> =>
  frames.at(-1)?.["headers"] as Record<string, string>;

/** The key is known by a call of its own. */
async function revoke(key: string): Promise<void> {
  await (await gateway.post("/v1/responses", ask, { key })).text();
  const [entry] = await gateway.entries();
  await gateway.control.controlStore.revokeKey(entry?.workspaceId ?? "", entry?.keyId ?? "", auditSource);
}

test("limits hold for each response, and are told with when to come again; the socket stays", async () => {
  const socket = await openSocket(gateway, { key: onceKey });
  expect((await socket.ask(ask)).at(-1)?.type).toBe("response.completed");
  const refused = await socket.ask(ask);
  expect(errorOf(refused)).toMatchObject({ status: 429, code: "rate_limit_exceeded" });
  expect(Number(headersOf(refused)["retry-after"])).toBeGreaterThan(0);
  expect(headersOf(refused)["x-request-id"]).toMatch(/^req_/);
  expect(socket.closed).toBeNull();
  const rejected = (await gateway.entries()).find(({ errorCode }) => errorCode === "rate_limit_exceeded");
  expect(rejected).toMatchObject({ endpoint: "responses", outcome: "rejected" });
  socket.close();
});

test("a budget holds, and a warm-up counts as a request but costs nothing", async () => {
  const poor = await openSocket(gateway, { key: poorKey });
  expect(errorOf(await poor.ask(ask))).toMatchObject({ status: 402, code: "budget_exceeded" });
  poor.close();
  const once = await openSocket(gateway, { key: onceKey });
  expect(errorOf(await once.ask({ ...ask, generate: false }))).toMatchObject({ status: 429 });
  once.close();
});

test("each response is a line in the access log, and so is the socket when it ends", async () => {
  const count = async (): Promise<number> => {
    const text = await (await gateway.get("/metrics")).text();
    const lines = text.split("\n").filter((line) => /^sluice_requests_total\{.*route="responses"/.test(line));
    return lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
  };
  const before = await count();
  const socket = await openSocket(gateway);
  await socket.ask(ask);
  await socket.ask(ask);
  socket.close();
  await until(async () => (await count()) === before + 3);
});

test("a revoked key's next response is refused, and its socket closed", async () => {
  const [key] = leaverKeys;
  const socket = await openSocket(gateway, { key });
  expect((await socket.ask(ask)).at(-1)?.type).toBe("response.completed");
  await revoke(key);
  await until(async () => errorOf(await socket.ask(ask))["status"] === 401 || socket.closed);
  expect(errorOf(socket.frames)).toMatchObject({ status: 401, code: "disabled_api_key" });
  expect((await socket.untilClosed()).code).toBe(1008);
});

test("a revoked key's silent socket is closed when it is looked at", async () => {
  const [, key] = leaverKeys;
  const socket = await openSocket(gateway, { key });
  await revoke(key);
  await until(() => {
    look();
    return socket.closed;
  });
  expect(socket.closed?.code).toBe(1008);
  expect(errorOf(socket.frames)).toMatchObject({ status: 401 });
});

test("a socket on which nothing is asked ends, and one that has lived its time says so", async () => {
  const idle = await openSocket(gateway);
  laterMs += bounds.socketIdleMs;
  look();
  expect((await idle.untilClosed()).code).toBe(1000);
  expect(idle.frames).toEqual([]);
  const old = await openSocket(gateway);
  laterMs += bounds.socketLifeMs;
  look();
  expect((await old.untilClosed()).code).toBe(1000);
  expect(errorOf(old.frames)).toMatchObject({ status: 400, code: "websocket_connection_limit_reached" });
});

test("a caller that goes away ends the upstream's call, and pays for what was seen", async () => {
  const socket = await openSocket(gateway);
  const script = '[[sim {"tokens":500,"event_ms":20}]]';
  socket.send({ type: "response.create", ...ask, input: `hi ${script}` });
  await socket.until("response.output_text.delta");
  socket.close();
  const entry = await until(async () => (await gateway.entries()).find(({ outcome }) => outcome === "cancelled"));
  expect(entry).toMatchObject({ endpoint: "responses", errorCode: "client_closed", usageSource: "estimated" });
  expect(entry.costNanoUsd).toBeGreaterThan(0);
  await until(() => gateway.gateway.outstanding() === 0);
});

test("nothing is left of the sockets that have ended", async () => {
  await until(async () => (await (await gateway.get("/metrics")).text()).includes("sluice_websockets_open 0"));
  expect(watches.size).toBe(0);
  expect(await (await gateway.get("/metrics")).text()).not.toMatch(/\nsluice_caller_memory_bytes\S+ [1-9]/);
});
