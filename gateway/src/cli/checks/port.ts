import type { Environment } from "#config/index.ts";
import { askStraight } from "../ask-straight.ts";
import { ownAddress } from "../own-address.ts";
import { type Check, type Finding, fail, ok, warn } from "./finding.ts";

const answerMs = 3_000;

/** Each port is free, or a healthy gateway answers on it. */
export const portCheck: Check = async ({ environment }) => {
  const { host, port, admin } = environment;
  const calls = await portFinding(environment, host, port, "SLUICE");
  return admin === null ? [calls] : [calls, await portFinding(environment, admin.host, admin.port, "SLUICE_ADMIN")];
};

async function portFinding(environment: Tls, host: string, port: number, variables: string): Promise<Finding> {
  const name = `port ${port}`;
  if (port === 0) return ok("port", "any free one is taken");
  const address = ownAddress(environment, host, port);
  const health = await answerOf(`${address}/healthz`);
  if (health?.body === "ok\n") {
    const ready = await answerOf(`${address}/readyz`);
    if (ready?.status === 200) return ok(name, "a gateway is running there and ready");
    const reason = ready?.body.trim().slice(0, 100) ?? "no answer";
    return warn(name, `a gateway is running there but not ready: ${reason}`, "look at its log");
  }
  if (health !== null) return fail(name, "something else answers there", `stop it, or set ${variables}_PORT`);
  const refusal = tryToListen(host, port);
  if (refusal === null) return ok(name, `free on ${host}`);
  return fail(name, refusal, `set ${variables}_HOST and ${variables}_PORT`);
}

type Tls = Pick<Environment, "tls">;

async function answerOf(url: string): Promise<{ status: number; body: string } | null> {
  try {
    const { status, text } = await askStraight(url, { answerMs, charactersMax: 1_000 });
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
    if (code === "EADDRINUSE") return "taken by something that does not speak HTTP";
    if (code === "EACCES") return "this user may not listen on it (ports below 1024 need a privilege)";
    return `${hostname} cannot be listened on${code === "" ? "" : ` (${code})`}`;
  }
}
