import { startChild } from "../acceptance/child.ts";
import { until } from "../until.ts";
import type { Weather } from "./tcp-proxy.ts";

export const servers = ["PostgreSQL", "Redis"] as const;
export type Server = (typeof servers)[number];

/** The ways of replicas to PostgreSQL and Redis, each through a proxy of its own. */
export interface Ways {
  /** The address by which this replica (from 0) reaches a server. */
  to(replica: number, server: Server, url: string): Promise<string>;
  set(replica: number, server: Server, weather: Weather): Promise<void>;
  reset(replica: number, server: Server): Promise<void>;
  stop(): Promise<void>;
}

export async function openWays(): Promise<Ways> {
  const child = startChild("test/prove/tcp-proxy.ts", [], {});
  const port = await until(() => {
    if (!child.running()) throw new Error(`the proxies ended:\n${child.output()}`);
    return /^(\d+)\n/.exec(child.output())?.[1] ?? null;
  });
  const ports = new Map<string, number>();
  const control = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await fetch(`http://127.0.0.1:${port}/ways${path}`, { method, ...sent });
    if (!answer.ok) throw new Error(`the proxies answered ${answer.status} to ${method} ${path}`);
    return await answer.json();
  };
  const pathOf = (replica: number, server: Server): string => {
    const own = ports.get(`${replica} ${server}`);
    if (own === undefined) throw new Error(`replica ${replica + 1} has no way to ${server}`);
    return `/${own}`;
  };
  return {
    async to(replica, server, url) {
      const address = new URL(url);
      const asked = { host: address.hostname, port: Number(address.port) };
      const way = (await control("POST", "", asked)) as { readonly port: number };
      ports.set(`${replica} ${server}`, way.port);
      address.port = String(way.port);
      return address.href;
    },
    set: async (replica, server, weather) => void (await control("PUT", pathOf(replica, server), weather)),
    reset: async (replica, server) => void (await control("DELETE", pathOf(replica, server))),
    async stop() {
      child.signal("SIGTERM");
      await child.exited;
    },
  };
}
