import { afterAll, beforeAll, expect, test } from "bun:test";
import { gunzipSync } from "node:zlib";
import { Secret } from "#core/index.ts";
import { until } from "../../../test/until.ts";
import { billedNano, focusProblems, readFocus } from "../focus-rules.ts";
import { MovedClock } from "../moved-clock.ts";
import { hello, type StartedGateway, startGateway } from "../started-gateway.ts";

const dayMs = 86_400_000;
const clock = new MovedClock();
const objects = new Map<string, Uint8Array>();
const bucket = Bun.serve({
  idleTimeout: 0,
  port: 0,
  async fetch(request) {
    if (request.method === "PUT") objects.set(decodeURIComponent(new URL(request.url).pathname), await request.bytes());
    return new Response(null);
  },
});
let started: StartedGateway;

beforeAll(async () => {
  const endpoint = `http://127.0.0.1:${bucket.port}`;
  started = await startGateway({
    clock,
    settings: { ledger: { export: { bucket: "books", endpoint, format: "focus" } } },
    environment: { ledgerExportKeys: { accessKeyId: "AKIDTEST", secretAccessKey: new Secret("bucket-canary-secret") } },
  });
});
afterAll(async () => {
  await started.stop();
  await bucket.stop(true);
});

test("writes the costs of a day's calls to the bucket, a day after the day ended", async () => {
  const tags = { "x-sluice-tags": "team=build" };
  const calls = [
    started.chat(hello, { headers: tags }),
    started.chat({ ...hello, stream: true }, { headers: tags }),
    started.chat({ ...hello, model: "unknown" }),
    started.post("/v1/messages", { ...hello, max_tokens: 50 }),
  ];
  for (const answer of await Promise.all(calls)) await answer.text();
  const entries = await started.entries();
  const cost = entries.reduce((sum, { costNanoUsd }) => sum + BigInt(costNanoUsd), 0n);
  expect(cost).toBeGreaterThan(0n);
  clock.move(3 * dayMs);
  const dates = [...new Set(entries.map(({ at }) => new Date(at).toISOString().slice(0, 10)))].sort();
  const folder = (date: string) => `/books/focus/date=${date}`;
  await until(() => dates.every((date) => objects.has(`${folder(date)}/_manifest.json`)));
  const rows = dates.flatMap((date) => {
    const bytes = objects.get(`${folder(date)}/part-00000.csv.gz`) ?? new Uint8Array();
    return [...readFocus(gunzipSync(bytes).toString())];
  });
  expect(focusProblems(rows)).toEqual([]);
  expect(billedNano(rows)).toBe(cost);
  expect(new Set(rows.map((row) => [row.x_Workspace, row.x_KeyName, row.x_Model].join(" ")))).toEqual(
    new Set(["acme alice gpt-test"]),
  );
  expect(rows.map(({ Tags }) => Tags)).toContain('{"team":"build"}');
  expect([...objects.keys()].every((name) => name.startsWith("/books/focus/date="))).toBe(true);
  // The day before yesterday is the last one that is closed.
  const lag = await until(async () => {
    const text = await (await fetch(`${started.url}/metrics`)).text();
    const seconds = Number(/^sluice_focus_export_lag_seconds (\S+)$/m.exec(text)?.[1]);
    return seconds <= (2 * dayMs) / 1_000 ? seconds : null;
  });
  expect(lag).toBeGreaterThanOrEqual(dayMs / 1_000);
});
