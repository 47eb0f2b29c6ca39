import { join } from "node:path";
import { callBody, paths } from "./call-request.ts";
import { runChild } from "./child.ts";
import type { Contender } from "./contender.ts";
import type { JsonLoadResult, JsonLoadSpec } from "./programs/json-load.ts";
import type { Run } from "./run.ts";

export interface Saturation {
  readonly bodyBytes: number;
  readonly connections: number;
  readonly seconds: number;
}

export interface Saturated {
  readonly requests: number;
  readonly perSecond: number;
  readonly failed: number;
}

const logShownMax = 2_000;
const startSlackMs = 20_000;

/** Measures the maximum throughput of the contender, with wrk if it is installed, or else with our own program. */
export async function saturate(run: Run, contender: Contender, load: Saturation): Promise<Saturated> {
  const wrk = Bun.which("wrk");
  const result = await (wrk === null ? withOwnProgram(run, contender, load) : withWrk(wrk, run, contender, load));
  if (result.failed > 0) {
    const log = contender.log === null ? "" : (await Bun.file(contender.log).text()).slice(0, logShownMax);
    throw new Error(`${contender.name} failed ${result.failed} of ${result.requests} requests\n${log}`);
  }
  if (result.requests === 0) throw new Error(`${contender.name} returned no response in ${load.seconds} s`);
  return result;
}

async function withOwnProgram(run: Run, contender: Contender, load: Saturation): Promise<Saturated> {
  const spec: JsonLoadSpec = {
    port: contender.port,
    key: contender.key,
    ...(contender.headers === undefined ? {} : { headers: contender.headers }),
    bodyBytes: load.bodyBytes,
    connections: load.connections,
    durationMs: load.seconds * 1000,
  };
  const result = await runChild<JsonLoadResult>(
    { command: run.programs("json-load", spec), cores: run.cores.load },
    load.seconds * 1000 + startSlackMs,
  );
  return { requests: result.requests, perSecond: result.requests / result.seconds, failed: result.failed };
}

interface WrkSummary {
  readonly requests: number;
  readonly microseconds: number;
  readonly failed: number;
}

async function withWrk(wrk: string, run: Run, contender: Contender, load: Saturation): Promise<Saturated> {
  const script = join(run.directory, `load-${contender.name}-${load.bodyBytes}.lua`);
  const body = join(run.directory, `body-${load.bodyBytes}.json`);
  await Bun.write(body, callBody("chat", load));
  await Bun.write(script, wrkScript(contender, body, `${script}.json`));
  const url = `http://127.0.0.1:${contender.port}${paths.chat}`;
  const connections = String(load.connections);
  const command = [wrk, "-t1", "-c", connections, "-d", `${load.seconds}s`, "--timeout", "10s", "-s", script, url];
  // wrk prints a summary before our script, so the script writes to a separate file.
  const summary = await runChild<WrkSummary>(
    { command: ["/bin/sh", "-c", `"$@" >/dev/null && cat "${script}.json"`, "sh", ...command], cores: run.cores.load },
    load.seconds * 1000 + startSlackMs,
  );
  return {
    requests: summary.requests,
    perSecond: summary.requests / (summary.microseconds / 1e6),
    failed: summary.failed,
  };
}

function wrkScript({ key, headers = [] }: Contender, bodyFile: string, outFile: string): string {
  return `wrk.method = "POST"
wrk.headers["content-type"] = "application/json"
wrk.headers["authorization"] = "Bearer ${key}"
${headers.map((line) => wrkHeader(line)).join("\n")}
local file = io.open("${bodyFile}", "rb")
wrk.body = file:read("*a")
file:close()
function done(summary, latency, requests)
  local e = summary.errors
  local out = io.open("${outFile}", "w")
  out:write(string.format('{"requests":%d,"microseconds":%d,"failed":%d}', summary.requests, summary.duration,
    e.connect + e.read + e.write + e.status + e.timeout))
  out:close()
end
`;
}

function wrkHeader(line: string): string {
  const colon = line.indexOf(":");
  return `wrk.headers["${line.slice(0, colon)}"] = ${JSON.stringify(line.slice(colon + 1).trim())}`;
}
