import { startChild } from "../acceptance/child.ts";
import { until } from "../until.ts";
import type { NetworkState } from "./tcp-proxy.ts";

export const servers = ["PostgreSQL", "Redis"] as const;
export type Server = (typeof servers)[number];

/** The connections of the replicas to PostgreSQL and Redis, each through its own proxy. */
export interface Proxies {
  /** Starts a proxy and returns the URL by which this replica (from 0) reaches the server. */
  to(replica: number, server: Server, url: string): Promise<string>;
  set(replica: number, server: Server, state: NetworkState): Promise<void>;
  reset(replica: number, server: Server): Promise<void>;
  stop(): Promise<void>;
}

export async function startProxies(): Promise<Proxies> {
  const child = startChild("test/prove/tcp-proxy.ts", [], {});
  const port = await until(() => {
    if (!child.running()) throw new Error(`the proxy process ended:\n${child.output()}`);
    return /^(\d+)\n/.exec(child.output())?.[1] ?? null;
  });
  const ports = new Map<string, number>();
  const control = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const init = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await fetch(`http://127.0.0.1:${port}/proxies${path}`, { method, ...init });
    if (!answer.ok) throw new Error(`the proxy process answered ${answer.status} to ${method} ${path}`);
    return await answer.json();
  };
  const pathOf = (replica: number, server: Server): string => {
    const proxyPort = ports.get(`${replica} ${server}`);
    if (proxyPort === undefined) throw new Error(`replica ${replica + 1} has no proxy to ${server}`);
    return `/${proxyPort}`;
  };
  return {
    async to(replica, server, url) {
      const address = new URL(url);
      const target = { host: address.hostname, port: Number(address.port) };
      const proxy = (await control("POST", "", target)) as { readonly port: number };
      ports.set(`${replica} ${server}`, proxy.port);
      address.port = String(proxy.port);
      return address.href;
    },
    set: async (replica, server, state) => void (await control("PUT", pathOf(replica, server), state)),
    reset: async (replica, server) => void (await control("DELETE", pathOf(replica, server))),
    async stop() {
      child.signal("SIGTERM");
      await child.exited;
    },
  };
}
