import { parseArgs } from "node:util";
import OpenAI, { toFile } from "openai";
import { startGateway } from "../../test/acceptance/start-gateway.ts";

/**
 * Runs one batch of many rows, and prints the processor time of the gateway and the longest stall of its event loop.
 *
 *     bun bench/src/batches.ts [--rows 50000] [--postgres postgres://…] [--bytes 1000]
 */
const { values } = parseArgs({
  options: {
    rows: { type: "string", default: "50000" },
    bytes: { type: "string", default: "1000" },
    postgres: { type: "string" },
  },
});

const secret = "sk-acme-alice-00000000000001";
const count = Number(values.rows);
let calls = 0;
const answer = JSON.stringify({
  ...{ id: "c1", object: "chat.completion", created: 1, model: "m" },
  choices: [{ index: 0, message: { role: "assistant", content: "x".repeat(500) }, finish_reason: "stop" }],
  usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
});
const upstream = Bun.serve({
  ...{ port: 0, idleTimeout: 0 },
  async fetch(request) {
    await request.arrayBuffer();
    calls++;
    return new Response(answer, { headers: { "content-type": "application/json" } });
  },
});

const gateway = await startGateway({
  config: {
    providers: [
      {
        id: "main",
        kind: "openai-compatible",
        base_url: `http://127.0.0.1:${upstream.port}/v1`,
        api_key: "sk-up",
        allow_private_network: true,
      },
    ],
    models: [{ name: "gpt-test", deployments: [{ provider: "main" }], price: { input: 1, output: 10 } }],
    workspaces: [{ slug: "acme", keys: [{ name: "alice", secret, budget: { usd: 100, period: "total" } }] }],
  },
  env: values.postgres === undefined ? {} : { SLUICE_DATABASE_URL: values.postgres },
});
try {
  const client = new OpenAI({ apiKey: secret, baseURL: `${gateway.url}/v1`, maxRetries: 0, timeout: 600_000 });
  const content = "a".repeat(Number(values.bytes));
  const lines = Array.from({ length: count }, (_, n) =>
    JSON.stringify({
      ...{ custom_id: `row-${n}`, method: "POST", url: "/v1/chat/completions" },
      body: { model: "gpt-test", max_tokens: 5, messages: [{ role: "user", content }] },
    }),
  );
  const file = await client.files.create({
    file: await toFile(Buffer.from(lines.join("\n")), "rows.jsonl"),
    purpose: "batch",
  });
  const [cpu0, startMs] = [await cpuSeconds(), performance.now()];
  const batch = await client.batches.create({
    input_file_id: file.id,
    endpoint: "/v1/chat/completions",
    completion_window: "24h",
  });
  const [cpu1, acceptedMs] = [await cpuSeconds(), performance.now()];
  report("accepted", cpu1 - cpu0, acceptedMs - startMs, await stallMs());
  let state: OpenAI.Batch = batch;
  while (!["completed", "failed"].includes(state.status)) {
    await Bun.sleep(1_000);
    state = await client.batches.retrieve(batch.id);
  }
  report("finished", (await cpuSeconds()) - cpu0, performance.now() - startMs, await stallMs());
  const expected = (count * (10 * 1_000 + 5 * 10_000)) / 1e9;
  console.log(JSON.stringify({ ...state.request_counts, calls, budgetUsed: await budgetUsed(), expected }));
} finally {
  await gateway.remove();
  await upstream.stop(true);
}

function report(what: string, cpu: number, ms: number, stall: number): void {
  console.log(
    `${what}: ${cpu.toFixed(1)} s of processor time in ${(ms / 1_000).toFixed(1)} s, longest stall ${stall.toFixed(1)} ms`,
  );
}

async function budgetUsed(): Promise<number | undefined> {
  const answer = await fetch(`${gateway.url}/v1/usage`, { headers: { authorization: `Bearer ${secret}` } });
  const { limits } = (await answer.json()) as { limits: readonly { kind: string; used: number }[] };
  return limits.find(({ kind }) => kind === "budget")?.used;
}

/** Of the gateway with all of its threads. */
async function cpuSeconds(): Promise<number> {
  const text = await (await fetch(`${gateway.url}/metrics`)).text();
  return numberIn(text, "process_cpu_seconds_total");
}

/** The longest stall of the last minute. */
async function stallMs(): Promise<number> {
  const text = await (await fetch(`${gateway.url}/metrics`)).text();
  return numberIn(text, "sluice_event_loop_delay_seconds") * 1_000;
}

function numberIn(text: string, name: string): number {
  const line = text.split("\n").find((each) => each.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1) ?? Number.NaN);
}
