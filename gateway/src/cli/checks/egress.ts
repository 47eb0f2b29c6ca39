import { connect } from "node:net";
import { bounds, type EgressProxy } from "#core/index.ts";
import { type Check, type Finding, fail, ok } from "./finding.ts";

/** By what proxy calls leave, and whether it takes connections. What it lets through is seen with `--online`. */
export const egressCheck: Check = async ({ environment: { egress, authorities } }) => {
  const findings: Finding[] = [];
  if (authorities.length > 0) {
    findings.push(ok("authorities", `${authorities.length} of SLUICE_CA are believed beside the usual ones`));
  }
  if (egress === null) return [ok("egress", "no proxy; calls leave straight"), ...findings];
  const { http, https, exempt } = egress;
  const proxies = new Map<string, EgressProxy>();
  for (const proxy of [https, http]) if (proxy !== null) proxies.set(placeOf(proxy), proxy);
  const rules = `${exempt.length} rule${exempt.length === 1 ? "" : "s"} in NO_PROXY`;
  for (const [place, proxy] of proxies) {
    const what = http !== null && https !== null && proxies.size === 1 ? "all" : proxy === https ? "https" : "http";
    const as = proxy.authorization === null ? "" : ", with a user and a password";
    const detail = `${what} calls leave by the proxy ${place}${as}; ${rules}`;
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
