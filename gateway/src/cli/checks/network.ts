import { connect } from "node:net";
import type { Environment } from "#config/index.ts";
import { checkRedis, redisVersionMin } from "#coordination/index.ts";
import { bounds, type EgressProxy } from "#core/index.ts";
import { networkOf } from "#main/control.ts";
import type { OtlpSignal } from "#ports/index.ts";
import { systemClock } from "#system/index.ts";
import { probeCollector } from "#telemetry/index.ts";
import { createTransport } from "#upstream/index.ts";
import { localAddress, requestLocal } from "../local-request.ts";
import { type Check, type Finding, fail, ok, warn } from "./finding.ts";

const answerMs = 3_000;

/** Checks that each port is free, or a healthy gateway answers on it. */
export const portCheck: Check = async ({ environment }) => {
  const { host, port, admin } = environment;
  const calls = await portFinding(environment, host, port, "SLUICE");
  return admin === null ? [calls] : [calls, await portFinding(environment, admin.host, admin.port, "SLUICE_ADMIN")];
};

async function portFinding(environment: Tls, host: string, port: number, variables: string): Promise<Finding> {
  const name = `port ${port}`;
  if (port === 0) return ok("port", "any free port is used");
  const address = localAddress(environment, host, port);
  const health = await answerOf(`${address}/healthz`);
  if (health?.body === "ok\n") {
    const ready = await answerOf(`${address}/readyz`);
    if (ready?.status === 200) return ok(name, "a gateway is running there and ready");
    const reason = ready?.body.trim().slice(0, 100) ?? "no answer";
    return warn(name, `a gateway is running there but not ready: ${reason}`, "check its log");
  }
  if (health !== null) return fail(name, "another program answers there", `stop it, or set ${variables}_PORT`);
  const refusal = tryToListen(host, port);
  if (refusal === null) return ok(name, `free on ${host}`);
  return fail(name, refusal, `set ${variables}_HOST and ${variables}_PORT`);
}

type Tls = Pick<Environment, "tls">;

async function answerOf(url: string): Promise<{ status: number; body: string } | null> {
  try {
    const { status, text } = await requestLocal(url, { answerMs, charactersMax: 1_000 });
    return { status, body: text };
  } catch {
    return null;
  }
}

function tryToListen(hostname: string, port: number): string | null {
  try {
    Bun.listen({ hostname, port, socket: { data() {} } }).stop(true);
    return null;
  } catch (thrown) {
    const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";
    if (code === "EADDRINUSE") return "used by a program that does not speak HTTP";
    if (code === "EACCES") return "this user may not listen on it (ports below 1024 need privileges)";
    return `${hostname} cannot be listened on${code === "" ? "" : ` (${code})`}`;
  }
}

/** Shows the outbound proxy and checks that it accepts connections. `--online` shows what it lets through. */
export const egressCheck: Check = async ({ environment: { egress, authorities } }) => {
  const findings: Finding[] = [];
  if (authorities.length > 0) {
    findings.push(
      ok("authorities", `${authorities.length} from SLUICE_CA are trusted in addition to the default ones`),
    );
  }
  if (egress === null) return [ok("egress", "no proxy; direct connections"), ...findings];
  const { http, https, exempt } = egress;
  const proxies = new Map<string, EgressProxy>();
  for (const proxy of [https, http]) if (proxy !== null) proxies.set(placeOf(proxy), proxy);
  const rules = `${exempt.length} rule${exempt.length === 1 ? "" : "s"} in NO_PROXY`;
  for (const [place, proxy] of proxies) {
    const what = http !== null && https !== null && proxies.size === 1 ? "all" : proxy === https ? "https" : "http";
    const as = proxy.authorization === null ? "" : ", with a user and a password";
    const detail = `${what} calls use the proxy ${place}${as}; ${rules}`;
    const problem = await dialled(proxy);
    findings.unshift(
      problem === null
        ? ok("egress", detail)
        : fail("egress", `${detail}; it cannot be reached (${problem})`, "check HTTPS_PROXY and HTTP_PROXY"),
    );
  }
  return findings;
};

function placeOf({ hostname, port }: EgressProxy): string {
  return `${hostname.includes(":") ? `[${hostname}]` : hostname}:${port}`;
}

function dialled({ hostname, port }: EgressProxy): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port });
    const end = (problem: string | null): void => {
      clearTimeout(late);
      socket.destroy();
      resolve(problem);
    };
    const late = setTimeout(() => end("no answer"), bounds.nameLookupMs * 2);
    socket.once("connect", () => end(null));
    socket.once("error", (error: NodeJS.ErrnoException) => end(error.code ?? error.message));
  });
}

/** Sends an empty export of each signal to the telemetry collector. */
export const telemetryCheck: Check = async ({ environment }) => {
  const { otlp } = environment;
  if (otlp === null) return [ok("telemetry", "not exported (OTEL_EXPORTER_OTLP_ENDPOINT is not set)")];
  const network = { transport: createTransport({ clock: systemClock, ...networkOf(environment) }), clock: systemClock };
  const kinds = ["traces", "metrics", "logs"] as const;
  const findings = await Promise.all(kinds.map((kind) => findingOf(kind, otlp[kind], network)));
  return findings.flatMap((finding) => finding ?? []);
};

type Network = Parameters<typeof probeCollector>[2];

async function findingOf(
  kind: "traces" | "metrics" | "logs",
  signal: OtlpSignal | null,
  network: Network,
): Promise<Finding | null> {
  if (signal === null) return null;
  const name = `telemetry ${kind}`;
  // The query may hold a key.
  const where = signal.url.replace(/[?#].*$/, "");
  const problem = await probeCollector(signal, kind, network).catch(
    (error: unknown) => `failed to connect: ${error instanceof Error ? error.message : String(error)}`,
  );
  if (problem === null) return ok(name, `${where} accepts ${signal.protocol}`);
  const advice = "check OTEL_EXPORTER_OTLP_* and that the collector accepts OTLP over HTTP; calls do not depend on it";
  return fail(name, `${where}: ${problem}`, advice);
}

/** Checks that the shared Redis answers, is recent enough and evicts nothing. */
export const redisCheck: Check = async ({ environment, clock }) => {
  const url = environment.redisUrl?.reveal();
  if (url === undefined) return [ok("limits", "counted in the memory of one process (SLUICE_REDIS_URL is not set)")];
  const { displayUrl, problem, version, policy } = await checkRedis(url, clock);
  const name = "redis";
  if (problem !== null) {
    const advice = "check SLUICE_REDIS_URL and the server; until it answers each limit behaves as its `fail` says";
    return [fail(name, `${displayUrl} cannot be used: ${problem}`, advice)];
  }
  if (Number.parseInt(version, 10) < redisVersionMin) {
    return [fail(name, `${displayUrl} is version ${version}`, `${redisVersionMin} or later is needed`)];
  }
  const findings = [ok(name, `${displayUrl} answers, version ${version}`)];
  if (policy === "noeviction") return findings;
  const advice = "set it to noeviction: an evicted key loses a limit";
  return [...findings, warn("redis memory", `maxmemory-policy is ${policy || "unknown"}`, advice)];
};
