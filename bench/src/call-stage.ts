/**
 * `bun bench/src/call-stage.ts [rounds]`: CPU time and objects of a governed 1 KB call between its parsed head and the
 * head of its answer, in this process: key, body, plan, limits, entry, usage, price, settlement, headers. Sockets, journal, ledger and
 * metrics are left out. Prints the least of the rounds. To compare two checkouts, run both at the same time.
 */
import { heapStats } from "bun:jsc";
import { answerDirect } from "../../gateway/src/api/direct-call.ts";
import { createMemoryCounter } from "../../gateway/src/coordination/index.ts";
import { defaultTimeouts, type Model, usdToPico } from "../../gateway/src/core/index.ts";
import { CallerRequest } from "../../gateway/src/http-server/caller-request.ts";
import type { Reply, ServerAnswer } from "../../gateway/src/http-server/index.ts";
import { type RequestHead, RequestReader, type ResponseHead, ResponseReader } from "../../gateway/src/http1/index.ts";
import { Authenticator } from "../../gateway/src/identity/index.ts";
import { Admission } from "../../gateway/src/limits/index.ts";
import { wireCalls } from "../../gateway/src/main/open-calls.ts";
import type { AnswerListener, Transport } from "../../gateway/src/ports/index.ts";
import { createIds, systemChance, systemClock } from "../../gateway/src/system/index.ts";
import { quietCallParts } from "../../gateway/test/call-parts.ts";
import { quietConfigSnapshot } from "../../gateway/test/quiet-config-snapshot.ts";
import { governedPrincipal } from "../../gateway/test/simulation/governed-principal.ts";
import { benchModel, callRequest } from "./call-request.ts";

const [rounds = 30] = process.argv.slice(2).map(Number);
const callsPerRound = 6_400;
const together = 32;
const secret = "sk-sluice-measure-0123456789abcdefghij";

const provider = {
  id: "bench",
  kind: "openai-compatible",
  baseUrl: "http://127.0.0.1:1/v1",
  secret: null,
  allowPrivateNetwork: true,
  timeouts: defaultTimeouts,
  disconnect: "cancel" as const,
  settings: {},
  enabled: true,
};
const price = { inputUncached: 0.01, cacheRead: 0.001, output: 0.08 };
const model: Model = {
  name: benchModel,
  type: "chat",
  ownedBy: "us",
  createdAt: 0,
  outputTokensMax: null,
  fallbacks: [],
  contextWindow: null,
  deployments: [
    { id: "dep_1", provider, upstreamModel: "up-name", priority: 1, weight: 1, enabled: true, contextWindow: null },
  ],
  price: {
    id: "prc_1",
    model: benchModel,
    table: Object.fromEntries(Object.entries(price).map(([name, usd]) => [name, usdToPico(usd, "million")])),
    effectiveFrom: 0,
  },
} as never;

const rates = { rpm: 1e9, tpm: 1e12 };
const { key, group, workspace } = governedPrincipal({
  workspace: { budget: { nanoUsd: 9e15, period: "month" } },
  group: { limits: { ...rates, concurrency: 100_000 } },
  key: { limits: rates, budget: { nanoUsd: 9e15, period: "day" } },
});
const configSnapshot = quietConfigSnapshot({
  providers: [provider],
  models: [model],
  workspaces: new Map([[workspace.id, workspace]]),
  groups: new Map([[group.id, group]]),
});
const clock = systemClock;
const ids = createIds(clock);
const observer = {
  log: (_level: string, message: string, fields: unknown) => console.error(message, fields),
  attemptEnd() {},
  requestEnd() {},
  breakerChange() {},
  configReload() {},
};
const journal = { intent() {}, checkpoint() {}, settle() {}, refuse() {}, synced: async () => {} };
const counter = createMemoryCounter({ clock });
const admission = new Admission({ counter, clock });
const listeners: AnswerListener[] = [];
const transport: Transport = {
  send: () => Promise.reject(new Error("not expected")),
  begin: (_request, _signal, listener) => void listeners.push(listener),
};
const parts = quietCallParts();
const { relay, bodies } = wireCalls({
  ...parts,
  ...{ configSnapshot: () => configSnapshot, admission, transport, clock, ids, observer },
  steady: clock,
  chance: systemChance,
  journal,
} as never);
const authenticator = new Authenticator({
  vault: { digest: (text: string) => `digest of ${text}` },
  keyStore: { find: async () => key },
  clock,
  configSnapshot: () => configSnapshot,
  feedReadAtMs: () => clock.monotonic(),
} as never);
const dependencies = {
  ...{ authenticator, relay, bodies, clock, ids, observer, memory: parts.memory },
  configSnapshot: () => configSnapshot,
  draining: () => false,
} as never;

const request = callRequest({ port: 1, key: secret, bodyBytes: 1_024 });
let head: RequestHead | null = null;
const pieces: Uint8Array[] = [];
const sink = { onBody: (piece: Uint8Array) => void pieces.push(piece), onEnd() {} };
new RequestReader({ headBytesMax: 65_536, fieldsMax: 100 }, {
  ...sink,
  onHead: (read: RequestHead) => {
    head = read;
  },
} as never).push(request);
const body = Buffer.concat(pieces);

const usage = { prompt_tokens: 230, completion_tokens: 150, total_tokens: 380 };
const common = { id: "chatcmpl-1", object: "chat.completion", created: 1, model: "up-name" };
const whole = {
  ...common,
  choices: [{ index: 0, message: { role: "assistant", content: "y".repeat(600) }, finish_reason: "stop" }],
  usage,
};
const reply = Buffer.from(JSON.stringify(whole));
let answerHead: ResponseHead | null = null;
const reader = new ResponseReader({ headBytesMax: 65_536, fieldsMax: 100 }, {
  ...sink,
  onHead: (read: ResponseHead) => {
    answerHead = read;
  },
} as never);
reader.begin("POST");
reader.push(
  Buffer.from(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${reply.length}\r\n\r\n`),
);
if (head === null || answerHead === null) throw new Error("the heads were not read");
const { status, headers } = answerHead as ResponseHead;

const flow = { address: "127.0.0.1", secure: false, askForBody() {}, pause() {}, resume() {} };
let answered = 0;
class Caller implements Reply {
  readonly request = new CallerRequest(head as never, flow);
  send(answer: ServerAnswer | Response): void {
    if (answer.status !== 200) throw new Error(`a call returned ${answer.status}`);
    answered++;
    this.request.answered(null);
  }
  fail(thrown: unknown): void {
    throw thrown;
  }
}

const answerBody = { arrived: () => reply, cancel() {} };

const addressOf = () => "127.0.0.1";
function turn(): void {
  for (let call = 0; call < together; call++) {
    const caller = new Caller();
    caller.request.push(body);
    caller.request.finish();
    if (!answerDirect(dependencies, addressOf, caller.request, caller)) throw new Error("not direct");
  }
  const sent = listeners.splice(0);
  for (const listener of sent) listener.onAnswer({ status, headers, body: answerBody } as never);
}

// Loads the key and the budgets.
await Promise.resolve(authenticator.authenticate((head as RequestHead).headers, "127.0.0.1"));
for (let wait = 0; wait < 3; wait++) {
  await new Promise((resolve) => setTimeout(resolve, 10));
  turn();
}
for (let wait = 0; wait < 3; wait++) {
  await new Promise((resolve) => setTimeout(resolve, 10));
  for (const listener of listeners.splice(0)) listener.onAnswer({ status, headers, body: answerBody } as never);
}

let leastUs = Number.POSITIVE_INFINITY;
for (let round = 0; round < rounds + 2; round++) {
  answered = 0;
  const before = process.cpuUsage();
  for (let done = 0; done < callsPerRound; done += together) turn();
  const { user, system } = process.cpuUsage(before);
  if (round >= 2) leastUs = Math.min(leastUs, (user + system) / answered);
}
type Counts = Readonly<Record<string, number>>;
Bun.gc(true);
const before: Counts = heapStats().objectTypeCounts;
answered = 0;
for (let turns = 0; turns < 16; turns++) turn();
const after: Counts = heapStats().objectTypeCounts;
const objects = Object.entries(after)
  .map(([type, count]): [string, number] => [type, Math.round((count - (before[type] ?? 0)) / answered)])
  .filter(([, count]) => count > 0);
console.log(JSON.stringify({ us: Number(leastUs.toFixed(2)), objects: Object.fromEntries(objects) }));
process.exit();
