import { afterEach, expect, test } from "bun:test";
import { until } from "../../../test/until.ts";
import { MovedClock } from "../moved-clock.ts";
import { type RawUpstream, rawAnswer, startRawUpstream } from "../raw-upstream.ts";
import { aliceKey, hello, type StartedGateway, startGateway, upstream } from "../started-gateway.ts";

let gateway: StartedGateway;
let vendor: RawUpstream;
afterEach(async () => {
  await gateway.stop();
  vendor.stop();
});

const reply = JSON.stringify({
  ...{ id: "c", object: "chat.completion" },
  choices: [{ index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 100, completion_tokens: 49_900, total_tokens: 50_000 },
});

test("a call longer than a minute fills tpm when it ends, and the retry time is at most a minute", async () => {
  const clock = new MovedClock();
  const answered = Promise.withResolvers<void>();
  vendor = await startRawUpstream((socket) => {
    void answered.promise.then(() => socket.write(rawAnswer(reply, "content-type: application/json\r\n")));
  });
  gateway = await startGateway({
    clock,
    providers: (simulator) => [upstream("main", simulator, { base_url: vendor.url })],
    keys: [{ name: "alice", secret: aliceKey, limits: { tpm: 10_000 } }],
  });
  const long = gateway.chat({ ...hello, max_tokens: 500 });
  await until(() => vendor.requests.length === 1);
  clock.move(62_000);
  answered.resolve();
  expect((await long).status).toBe(200);
  await until(() => gateway.gateway.outstanding() === 0);
  const refused = await gateway.chat({ ...hello, max_tokens: 500 });
  expect(refused.status).toBe(429);
  const retryAfter = Number(refused.headers.get("retry-after"));
  expect(retryAfter).toBeGreaterThan(0);
  expect(retryAfter).toBeLessThanOrEqual(60);
  clock.move(62_000);
  expect((await gateway.chat({ ...hello, max_tokens: 500 })).status).toBe(200);
});
