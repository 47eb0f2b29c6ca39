/**
 * `bun bench/src/telemetry-cost.ts [rounds] [calls]`: what telemetry adds to a small governed call, as processor time of the event
 * loop's thread and of the whole process, until it has come to rest. Gateways without it, with traces, and with traces, metrics and
 * log lines are asked in turn.
 */
import { readdirSync, readFileSync } from "node:fs";
import { callRequest } from "./call-request.ts";
import { endChildrenWithUs } from "./child.ts";
import { type Sluice, startSluice } from "./contenders/sluice.ts";
import { atRest } from "./measure.ts";
import { readOptions } from "./options.ts";
import { RawConnection } from "./raw-connection.ts";
import { startRun } from "./run.ts";
import { spread } from "./statistics.ts";

const [rounds = 8, calls = 5_000] = process.argv.slice(2).map(Number);
const connections = 16;
const variants = ["none", "traces", "all"] as const;

endChildrenWithUs();
let received = 0;
const collector = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    received += (await request.arrayBuffer()).byteLength;
    return new Response(new Uint8Array(0), { headers: { "content-type": "application/x-protobuf" } });
  },
});
const run = await startRun(readOptions([]));
const gateways: { readonly name: string; readonly sluice: Sluice }[] = [];
for (const name of variants) gateways.push({ name, sluice: await startSluice(run, { env: variablesOf(name) }) });
const costs = new Map(gateways.map(({ name }) => [name, { loop: [] as number[], whole: [] as number[] }]));
try {
  // Code that runs for the first time costs several times as much.
  for (const { sluice } of gateways) for (let turn = 0; turn < 4; turn++) await load(sluice);
  for (let round = 0; round < rounds; round++) {
    for (const { name, sluice } of gateways) {
      await atRest(sluice);
      const before = spent(sluice.pid);
      await load(sluice);
      await atRest(sluice);
      const after = spent(sluice.pid);
      costs.get(name)?.loop.push((after.loop - before.loop) / calls);
      costs.get(name)?.whole.push((after.whole - before.whole) / calls);
    }
  }
  const none = costs.get("none");
  for (const [name, { loop, whole }] of costs) {
    console.log(
      `${name}: event loop ${told(loop)} µs a call, whole process ${told(whole)} µs; over none ` +
        `${told(ratios(loop, none?.loop ?? []))} and ${told(ratios(whole, none?.whole ?? []))} ×`,
    );
  }
  console.log(`${received} bytes reached the collector`);
} finally {
  for (const { sluice } of gateways) await sluice.stop();
  await run.close();
  await collector.stop(true);
}
process.exit();

function variablesOf(name: (typeof variants)[number]): Record<string, string> {
  const endpoint = `http://127.0.0.1:${collector.port}`;
  const common = { SLUICE_LOG_LEVEL: "info", OTEL_BSP_SCHEDULE_DELAY: "500", OTEL_BSP_MAX_QUEUE_SIZE: "100000" };
  if (name === "none") return common;
  if (name === "traces") return { ...common, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${endpoint}/v1/traces` };
  return { ...common, OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_BLRP_MAX_QUEUE_SIZE: "100000" };
}

async function load({ port, key }: Sluice): Promise<void> {
  const request = callRequest({ port, key, bodyBytes: 1_024 });
  let left = calls;
  const work = async (): Promise<void> => {
    const connection = await RawConnection.open(port);
    while (left-- > 0) {
      const { status } = await connection.exchange(request);
      if (status !== 200) throw new Error(`a call was answered ${status}`);
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: connections }, work));
}

/** Microseconds on a processor so far (/proc/<pid>/task/<thread>/schedstat). Threads that have ended are not in it. */
function spent(pid: number): { readonly loop: number; readonly whole: number } {
  const threads = readdirSync(`/proc/${pid}/task`);
  const of = (thread: string) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]) / 1e3;
  return { loop: of(String(pid)), whole: threads.reduce((sum, thread) => sum + of(thread), 0) };
}

function ratios(of: readonly number[], over: readonly number[]): number[] {
  return of.map((value, round) => value / (over[round] ?? Number.NaN));
}

function told(samples: readonly number[]): string {
  const { median, min, max } = spread(samples) ?? { median: Number.NaN, min: Number.NaN, max: Number.NaN };
  const digits = median < 10 ? 3 : 1;
  return `${median.toFixed(digits)} (${min.toFixed(digits)}–${max.toFixed(digits)})`;
}
