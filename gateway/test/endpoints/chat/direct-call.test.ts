import { afterAll, beforeAll, expect, spyOn, test } from "bun:test";
import type { Script } from "@sluice/simulator";
import fc from "fast-check";
import type { LedgerEntry } from "#core/index.ts";
import { Relay } from "#relay/index.ts";
import { until } from "../../../../test/until.ts";
import { openSocket } from "../../edge/raw-socket.ts";
import { aliceKey, type StartedGateway, scriptHeader, startGateway } from "../../started-gateway.ts";

/**
 * One gateway receives complete requests, which take the direct path. The other receives heads and bodies separately,
 * which take the general path.
 */
let direct: StartedGateway;
let general: StartedGateway;
beforeAll(async () => {
  const limits = { rpm: 40, tpm: 1_000_000, concurrency: 10 };
  const keys = [{ name: "alice", secret: aliceKey, limits, budget: { usd: 5, period: "day" as const } }];
  [direct, general] = await Promise.all([startGateway({ keys }), startGateway({ keys })]);
});
afterAll(() => Promise.all([direct?.stop(), general?.stop()]));

interface Call {
  readonly path: string;
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly script: Script;
}

async function send(
  to: StartedGateway,
  { path, key, headers, body, script }: Call,
  separately: boolean,
): Promise<string> {
  const { server } = to.gateway;
  const socket = openSocket(server.port);
  const all = { host: "a", authorization: `Bearer ${key}`, ...headers, [scriptHeader]: JSON.stringify(script) };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const bytes = Buffer.from(body).toString("latin1");
  const head = `POST ${path} HTTP/1.1\r\n${lines.join("")}content-length: ${bytes.length}\r\nconnection: close\r\n\r\n`;
  if (separately) {
    socket.write(head);
    await until(() => server.pending() === 1 || socket.text() !== "");
    socket.write(bytes);
  } else socket.write(head + bytes);
  return await socket.closed;
}

/** Removes what differs between calls and installations: ids and times. */
function withoutVariables(text: string): string {
  return text
    .replace(/\b(req|att|key|grp|wks|ws|dep|prc|chatcmpl|msg|resp)[_-][0-9A-Za-z]+/g, "$1")
    .replace(
      /^(date|retry-after|x-sluice-overhead-ms|x-ratelimit-reset-[a-z]+|anthropic-ratelimit-[a-z-]+-reset): .*$/gm,
      "$1",
    )
    .replace(/"(created|created_at|resets_at|retry_after)": ?[0-9.]+/g, '"$1"')
    .replace(/try again in \d+ s/g, "try again");
}

function entryWithoutVariables(entry: LedgerEntry): string {
  const { at: _at, endedAt: _end, startedAfterMs: _after, ...rest } = entry;
  const stable = Object.entries(rest).filter(
    ([name]) => !name.endsWith("Ms") && !/^(workspace|group|key)Id$/.test(name),
  );
  return withoutVariables(JSON.stringify(Object.fromEntries(stable)));
}

const content = fc.oneof(fc.string(), fc.constant("héllo ☃"), fc.constant("x".repeat(3_000)));
const chatBody = fc.record(
  {
    model: fc.constantFrom("gpt-test", "gpt-test", "gpt-test", "no-such-model"),
    messages: fc.array(fc.record({ role: fc.constant("user"), content }), { minLength: 1, maxLength: 3 }),
    stream: fc.boolean(),
    max_tokens: fc.integer({ min: 1, max: 200 }),
    user: fc.constantFrom("u1", '{"session_id":"s-1"}'),
    prompt_cache_key: fc.constant("one"),
  },
  { requiredKeys: ["model", "messages"] },
);
const call: fc.Arbitrary<Call> = fc.record({
  path: fc.constantFrom(
    "/v1/chat/completions",
    "/v1/chat/completions",
    "/v1/messages?beta=true",
    "/v1/chat/completions?a=1",
  ),
  key: fc.constantFrom(aliceKey, aliceKey, aliceKey, "sk-unknown-0123456789abcdefghij"),
  headers: fc.constantFrom<Record<string, string>>(
    { "content-type": "application/json" },
    { "content-type": "application/json", "anthropic-version": "2023-06-01", "x-sluice-tags": "team=a" },
    { "content-type": "application/json", "user-agent": "tool/1", "x-session-id": "s2", "idempotency-key": "k" },
    { "content-type": "text/plain" },
    { "content-type": "application/json", "x-sluice-tags": "broken" },
  ),
  body: fc.oneof(
    { weight: 9, arbitrary: chatBody.map((body) => JSON.stringify(body)) },
    { weight: 1, arbitrary: fc.constant("{") },
  ),
  script: fc.constantFrom<Script>({ tokens: 3 }, { tokens: 3 }, { status: 400 }, { status: 503 }, { tokens: 20 }),
});

test("returns the same answer, headers and ledger entries on the direct and the general path", async () => {
  const runs = spyOn(Relay.prototype, "run");
  const starts = spyOn(Relay.prototype, "start");
  await fc.assert(
    fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 5 }), async (all) => {
      for (const one of all) {
        const [by, other] = await Promise.all([send(direct, one, false), send(general, one, true)]);
        expect(withoutVariables(by)).toBe(withoutVariables(other));
      }
    }),
    { numRuns: 100 },
  );
  expect(runs.mock.calls.length).toBeGreaterThan(20);
  expect(starts.mock.calls.length - runs.mock.calls.length).toBeGreaterThan(20);
  const [entries, others] = await Promise.all([direct.entries(), general.entries()]);
  // Equal refusals within a second share an entry, so their number depends on timing.
  const attemptsOf = (all: readonly LedgerEntry[]) =>
    all.filter(({ outcome }) => outcome !== "rejected").map(entryWithoutVariables);
  expect(attemptsOf(entries)).toEqual(attemptsOf(others));
  expect(attemptsOf(entries).length).toBeGreaterThan(20);
  expect(direct.gateway.outstanding()).toBe(0);
});
