import { afterAll, beforeAll, expect, test } from "bun:test";
import { bounds, Secret } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";
import { systemClock } from "#system/index.ts";
import { until } from "../../../../test/until.ts";
import { aliceKey, type StartedGateway } from "../../started-gateway.ts";
import { type Frame, openSocket, socketGateway } from "./socket-gateway.ts";

const auditSource = { actor: "test", ip: null };
const limitedKey = "sk-once-0123456789abcdefghij";
const budgetKey = "sk-poor-0123456789abcdefghij";
const revocableKeys = ["sk-leaver-0123456789abcdefghi", "sk-leaver-1123456789abcdefghi"] as const;

/** The test runs the periodic checks of the sockets. */
const pendingChecks = new Set<() => void>();
let skippedMs = 0;
const clock: Clock = {
  now: () => systemClock.now(),
  monotonic: () => systemClock.monotonic() + skippedMs,
  after(delayMs, run) {
    if (delayMs !== bounds.socketWatchMs) return systemClock.after(delayMs, run);
    pendingChecks.add(run);
    return () => pendingChecks.delete(run);
  },
};
function runChecks(): void {
  for (const run of [...pendingChecks]) {
    pendingChecks.delete(run);
    run();
  }
}

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await socketGateway({
    clock,
    keys: [
      { name: "alice", secret: aliceKey },
      { name: "limited", secret: limitedKey, limits: { rpm: 1 } },
      { name: "budget", secret: budgetKey, budget: { usd: 0.000001, period: "day" } },
    ],
  });
  const { controlStore } = gateway.control;
  const [workspace] = (await controlStore.workspaces({ ids: null }, null, 1)).data;
  for (const [index, secret] of revocableKeys.entries()) {
    const key = { name: `leaver-${index}`, secret: new Secret(secret), createdBy: null };
    await controlStore.addKey(workspace?.id ?? "", key, auditSource);
  }
});
afterAll(() => gateway.stop());

const request = { model: "openai", store: false, input: "hi" };
const errorOf = (frames: readonly Frame[]): Record<string, unknown> => ({
  status: frames.at(-1)?.["status"],
  ...(frames.at(-1)?.["error"] as object),
});
const headersOf = (frames: readonly Frame[]): Record<string, string> =>
  frames.at(-1)?.["headers"] as Record<string, string>;

async function waitUntilAllClosed(): Promise<void> {
  await until(async () => (await (await gateway.get("/metrics")).text()).includes("sluice_websockets_open 0"));
}

/** Revokes a key after a call, because its id comes from the call's ledger entry. */
async function revoke(key: string): Promise<void> {
  await (await gateway.post("/v1/responses", request, { key })).text();
  const [entry] = await gateway.entries();
  await gateway.control.controlStore.revokeKey(entry?.workspaceId ?? "", entry?.keyId ?? "", auditSource);
}

test("applies rate limits to each response, with Retry-After, and keeps the socket open", async () => {
  const socket = await openSocket(gateway, { key: limitedKey });
  expect((await socket.ask(request)).at(-1)?.type).toBe("response.completed");
  const refused = await socket.ask(request);
  expect(errorOf(refused)).toMatchObject({ status: 429, code: "rate_limit_exceeded" });
  expect(Number(headersOf(refused)["retry-after"])).toBeGreaterThan(0);
  expect(headersOf(refused)["x-request-id"]).toMatch(/^req_/);
  expect(socket.closed).toBeNull();
  const rejected = (await gateway.entries()).find(({ errorCode }) => errorCode === "rate_limit_exceeded");
  expect(rejected).toMatchObject({ endpoint: "responses", outcome: "rejected" });
  socket.close();
});

test("applies budgets, and counts a warm-up as a request without cost", async () => {
  const overBudget = await openSocket(gateway, { key: budgetKey });
  expect(errorOf(await overBudget.ask(request))).toMatchObject({ status: 402, code: "budget_exceeded" });
  overBudget.close();
  const limited = await openSocket(gateway, { key: limitedKey });
  expect(errorOf(await limited.ask({ ...request, generate: false }))).toMatchObject({ status: 429 });
  limited.close();
});

test("counts each response, and the socket when it ends", async () => {
  const count = async (): Promise<number> => {
    const text = await (await gateway.get("/metrics")).text();
    const lines = text.split("\n").filter((line) => /^sluice_requests_total\{.*route="responses"/.test(line));
    return lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
  };
  // The sockets of earlier tests count when they end.
  await waitUntilAllClosed();
  const before = await count();
  const socket = await openSocket(gateway);
  await socket.ask(request);
  await socket.ask(request);
  socket.close();
  await until(async () => (await count()) === before + 3);
});

test("rejects the next response of a revoked key and closes its socket", async () => {
  const [key] = revocableKeys;
  const socket = await openSocket(gateway, { key });
  expect((await socket.ask(request)).at(-1)?.type).toBe("response.completed");
  await revoke(key);
  await until(async () => errorOf(await socket.ask(request))["status"] === 401 || socket.closed);
  expect(errorOf(socket.frames)).toMatchObject({ status: 401, code: "revoked_api_key" });
  expect((await socket.untilClosed()).code).toBe(1008);
});

test("closes the idle socket of a revoked key at the next check", async () => {
  const [, key] = revocableKeys;
  const socket = await openSocket(gateway, { key });
  await revoke(key);
  await until(() => {
    runChecks();
    return socket.closed;
  });
  expect(socket.closed?.code).toBe(1008);
  expect(errorOf(socket.frames)).toMatchObject({ status: 401 });
});

test("closes an idle socket, and an old one with an error", async () => {
  const idle = await openSocket(gateway);
  skippedMs += bounds.socketIdleMs;
  runChecks();
  expect((await idle.untilClosed()).code).toBe(1000);
  expect(idle.frames).toEqual([]);
  const old = await openSocket(gateway);
  skippedMs += bounds.socketLifeMs;
  runChecks();
  expect((await old.untilClosed()).code).toBe(1000);
  expect(errorOf(old.frames)).toMatchObject({ status: 400, code: "websocket_connection_limit_reached" });
});

test("stops the upstream when the caller disconnects, and charges the output so far", async () => {
  const socket = await openSocket(gateway);
  const script = '[[sim {"tokens":500,"event_ms":20}]]';
  socket.send({ type: "response.create", ...request, input: `hi ${script}` });
  await socket.until("response.output_text.delta");
  socket.close();
  const entry = await until(async () => (await gateway.entries()).find(({ outcome }) => outcome === "cancelled"));
  expect(entry).toMatchObject({ endpoint: "responses", errorCode: "client_closed", usageSource: "estimated" });
  expect(entry.costNanoUsd).toBeGreaterThan(0);
  await until(() => gateway.gateway.outstanding() === 0);
});

test("keeps nothing of sockets that have ended", async () => {
  await waitUntilAllClosed();
  expect(pendingChecks.size).toBe(0);
  expect(await (await gateway.get("/metrics")).text()).not.toMatch(/\nsluice_caller_memory_bytes\S+ [1-9]/);
});
