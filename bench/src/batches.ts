import { isDeepStrictEqual, parseArgs } from "node:util";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI, { toFile } from "openai";
import { BatchVendor } from "../../gateway/test/endpoints/batches/batch-vendor.ts";
import { exportedEntries } from "../../gateway/test/endpoints/batches/exported-entries.ts";
import { AdminClient, administratorEnvironment } from "../../test/acceptance/admin-client.ts";
import { freePort } from "../../test/acceptance/free-port.ts";
import { startGateway } from "../../test/acceptance/start-gateway.ts";
import { WatchedLoop } from "../../test/acceptance/watched-loop.ts";
import { until } from "../../test/until.ts";
import { gatewayProgram } from "./gateway-program.ts";
import { ProcessTime } from "./process-time.ts";

/**
 * Runs a batch of many rows, after a small one that warms up the code. Prints, for each phase, the gateway's processor time, the longest
 * turn of its event loop in processor time, and its memory. Fails unless results, ledger and budget equal what the upstream or the vendor
 * executed.
 *
 *     bun bench/src/batches.ts [--rows 50000] [--bytes 1000] [--vendor openai|anthropic] [--cancel] [--postgres postgres://…]
 *
 * `--vendor`: the vendor runs the rows as one of its batches. `--cancel`: the batch is canceled soon after it was created.
 */
const { values } = parseArgs({
  options: {
    rows: { type: "string", default: "50000" },
    bytes: { type: "string", default: "1000" },
    vendor: { type: "string" },
    cancel: { type: "boolean", default: false },
    postgres: { type: "string" },
  },
});

const secret = "sk-acme-alice-00000000000001";
const model = "gpt-test";
const warmUpRows = 1_000;
const content = "a".repeat(Number(values.bytes));
const text = "x".repeat(500);
/** Of an answer, in nano-USD: 10 tokens of input at 1 USD per million, 5 of output at 10. Vendors' batches cost half. */
const rowCost = (10 * 1_000 + 5 * 10_000) / (values.vendor === undefined ? 1 : 2);

/** Runs the rows that the gateway sends one by one. */
let calls = 0;
const answer = JSON.stringify({
  ...{ id: "c1", object: "chat.completion", created: 1, model },
  choices: [{ index: 0, message: { role: "assistant", content: text }, finish_reason: "stop" }],
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
const vendor = new BatchVendor();
vendor.endOf = (position) => (position % 5 === 0 ? "failed" : position % 7 === 0 ? "left" : "answered");
vendor.changeLine = (line) => line.replace(/"(content|text)":"[^"]*"/, `"$1":"${text}"`);

const loop = new WatchedLoop(await freePort());
const gateway = await startGateway({
  program: gatewayProgram(),
  config: {
    providers: [
      {
        ...{ id: "main", api_key: "sk-up", allow_private_network: true },
        ...(values.vendor === undefined
          ? { kind: "openai-compatible", base_url: `http://127.0.0.1:${upstream.port}/v1` }
          : { kind: values.vendor, base_url: vendor.url, settings: { batches: true } }),
      },
    ],
    models: [{ name: model, deployments: [{ provider: "main" }], price: { input: 1, output: 10 } }],
    workspaces: [{ slug: "acme", keys: [{ name: "alice", secret, budget: { usd: 100, period: "total" } }] }],
  },
  env: {
    ...loop.environment,
    ...administratorEnvironment,
    ...(values.postgres === undefined ? {} : { SLUICE_DATABASE_URL: values.postgres }),
  },
});

const connection = { apiKey: secret, maxRetries: 0, timeout: 600_000 };
const api = values.vendor === "anthropic" ? anthropicBatches() : openaiBatches();

/** A batch in an API. */
interface Progress {
  readonly id: string;
  readonly hasEnded: boolean;
  readonly answered: number;
}

interface BatchesApi {
  upload(count: number): Promise<void>;
  create(count: number): Promise<Progress>;
  find(id: string): Promise<Progress>;
  cancel(id: string): Promise<unknown>;
  /** Resolves to the number of answers among the results. */
  results(id: string): Promise<number>;
}

function openaiBatches(): BatchesApi {
  const client = new OpenAI({ ...connection, baseURL: `${gateway.url}/v1` });
  const progress = ({ id, status, request_counts: counts, ...batch }: OpenAI.Batch) => ({
    ...{ id, answered: counts?.completed ?? 0, output: batch.output_file_id },
    hasEnded: ["completed", "cancelled", "expired", "failed"].includes(status),
  });
  let input = "";
  return {
    async upload(count) {
      const lines = Array.from({ length: count }, (_, n) =>
        JSON.stringify({
          ...{ custom_id: `row-${n}`, method: "POST", url: "/v1/chat/completions" },
          body: { model, max_tokens: 5, messages: [{ role: "user", content }] },
        }),
      );
      const file = await toFile(Buffer.from(lines.join("\n")), "rows.jsonl");
      input = (await client.files.create({ file, purpose: "batch" })).id;
    },
    async create() {
      const [endpoint, completion_window] = ["/v1/chat/completions", "24h"] as const;
      return progress(await client.batches.create({ input_file_id: input, endpoint, completion_window }));
    },
    find: async (id) => progress(await client.batches.retrieve(id)),
    cancel: (id) => client.batches.cancel(id),
    async results(id) {
      const { output } = progress(await client.batches.retrieve(id));
      if (output === undefined) return 0;
      return (await (await client.files.content(output)).text()).trimEnd().split("\n").length;
    },
  };
}

function anthropicBatches(): BatchesApi {
  const { batches } = new Anthropic({ ...connection, baseURL: gateway.url }).messages;
  const progress = ({ id, processing_status: status, request_counts }: Anthropic.Messages.MessageBatch) => ({
    ...{ id, hasEnded: status === "ended", answered: request_counts.succeeded },
  });
  return {
    upload: async () => undefined,
    async create(count) {
      const requests = Array.from({ length: count }, (_, n) => ({
        ...{ custom_id: `row-${n}` },
        params: { model, max_tokens: 5, messages: [{ role: "user" as const, content }] },
      }));
      return progress(await batches.create({ requests }));
    },
    find: async (id) => progress(await batches.retrieve(id)),
    cancel: (id) => batches.cancel(id),
    async results(id) {
      let answered = 0;
      for await (const { result } of await batches.results(id)) if (result.type === "succeeded") answered++;
      return answered;
    },
  };
}

/** Numbers of rows that upstream and vendor executed and answered. */
function truthOf(): { readonly executed: number; readonly answered: number } {
  const ends = vendor.batches.flatMap(({ rows }) => rows.map((_, position) => vendor.endOf(position)));
  const of = (end: string) => ends.filter((one) => one === end).length;
  return { executed: calls + of("answered") + of("failed"), answered: calls + of("answered") };
}

/** In nano-USD. */
async function budgetUsed(): Promise<number | undefined> {
  const { limits } = await until(async () => {
    const response = await fetch(`${gateway.url}/v1/usage`, { headers: { authorization: `Bearer ${secret}` } });
    const answer = (await response.json()) as { limits: readonly { kind: string; used: number }[] };
    // A report may take too long on a busy machine.
    return response.status === 408 ? null : answer;
  });
  const used = limits.find(({ kind }) => kind === "budget")?.used;
  return used === undefined ? undefined : Math.round(used * 1e9);
}

/** Measures phases one after the other. */
class Phases {
  readonly #time: ProcessTime;
  readonly #startMs = performance.now();
  #seconds = 0;
  #longestMs = 0;
  #bytes = 0;

  constructor(pid: number) {
    this.#time = new ProcessTime(pid);
  }

  async run<Result>(name: string, act: () => Promise<Result>): Promise<Result> {
    const [before, startMs] = [this.#time.read(), performance.now()];
    let [longestMs, bytes] = [0, 0];
    await loop.read();
    const read = async () => {
      const { longest_ms, resident_bytes } = await loop.read();
      longestMs = Math.max(longestMs, longest_ms);
      bytes = Math.max(bytes, resident_bytes);
    };
    const timer = setInterval(read, 250);
    const result = await act().finally(() => clearInterval(timer));
    await read();
    const after = this.#time.read();
    const seconds = (after.whole - before.whole) / 1e6;
    this.#seconds += seconds;
    this.#longestMs = Math.max(this.#longestMs, longestMs);
    this.#bytes = Math.max(this.#bytes, bytes);
    print(name, seconds, performance.now() - startMs, longestMs, bytes);
    return result;
  }

  printSum(): void {
    print("in all", this.#seconds, performance.now() - this.#startMs, this.#longestMs, this.#bytes);
  }
}

function print(name: string, seconds: number, ms: number, longestMs: number, bytes: number): void {
  const spent = `${seconds.toFixed(1)} s of processor time in ${(ms / 1_000).toFixed(1)} s`;
  console.log(`${name}: ${spent}, longest turn ${longestMs.toFixed(1)} ms, ${(bytes / 1e6).toFixed(0)} MB`);
}

async function runBatch(
  count: number,
  phases: Phases,
): Promise<{ readonly answered: number; readonly answers: number }> {
  const earlier = { calls, batches: vendor.batches.length };
  await phases.run("upload", () => api.upload(count));
  const { id } = await phases.run("create", () => api.create(count));
  const { answered } = await phases.run(values.cancel ? "cancel and finish" : "run and finish", async () => {
    for (let isCanceled = !values.cancel; ; ) {
      const state = await api.find(id);
      if (state.hasEnded) return state;
      const hasBegun = vendor.batches.length > earlier.batches || calls > earlier.calls;
      if (hasBegun && !isCanceled) {
        await api.cancel(id);
        isCanceled = true;
      } else vendor.end();
      // As a console page does that is open meanwhile.
      await admin.json("GET", "/api/workspaces/acme/batches");
      await admin.json("GET", `/api/workspaces/acme/batches/batch_${id.replace(/^\w+_/, "")}`);
      await Bun.sleep(1_000);
    }
  });
  const answers = await phases.run("download", () => api.results(id));
  if (vendor.batches.length > earlier.batches + 1) throw new Error("the vendor has the batch twice");
  phases.printSum();
  return { answered, answers };
}

let admin: AdminClient;
try {
  admin = await AdminClient.signIn(gateway.url);
  console.log(`warm-up, ${warmUpRows} rows`);
  const first = await runBatch(warmUpRows, new Phases(gateway.pid()));
  console.log(`${values.rows} rows`);
  const second = await runBatch(Number(values.rows), new Phases(gateway.pid()));
  const truth = truthOf();
  const entries = await exportedEntries(gateway);
  const found = {
    answered: first.answered + second.answered,
    answers: first.answers + second.answers,
    entries: entries.length,
    rows: new Set(entries.map(({ batch_id, custom_id }) => `${batch_id} ${custom_id}`)).size,
    cost: entries.reduce((sum, { cost_nano_usd }) => sum + cost_nano_usd, 0),
    budget: await budgetUsed(),
  };
  const cost = truth.answered * rowCost;
  const wanted = {
    ...{ answered: truth.answered, answers: truth.answered, entries: truth.executed, rows: truth.executed },
    ...{ cost, budget: cost },
  };
  console.log(JSON.stringify(found));
  if (!isDeepStrictEqual(found, wanted)) throw new Error(`expected ${JSON.stringify(wanted)}`);
} finally {
  await gateway.remove();
  await upstream.stop(true);
  vendor.stop();
}
process.exit(0);
