import { createClient } from "@redis/client";
import { RedisServer } from "../../../test/redis-server.ts";
import { until } from "../../../test/until.ts";

/** Slots of each master, in order. */
const ranges = [
  ["0", "5460"],
  ["5461", "10922"],
  ["10923", "16383"],
] as const;

/** A cluster on loopback: three masters with one replica each. */
export class RedisCluster {
  readonly #nodes: readonly RedisServer[];

  private constructor(nodes: readonly RedisServer[]) {
    this.#nodes = nodes;
  }

  static async start(): Promise<RedisCluster> {
    const nodes: RedisServer[] = [];
    const cluster = new RedisCluster(nodes);
    try {
      const starting = Array.from({ length: 2 * ranges.length }, () => RedisServer.node());
      for (const start of await Promise.allSettled(starting)) if (start.status === "fulfilled") nodes.push(start.value);
      if (nodes.length < starting.length) throw new Error("a node of the cluster did not start");
      await cluster.#join();
      return cluster;
    } catch (thrown) {
      await cluster.stop();
      throw thrown;
    }
  }

  /** The URL as an operator writes it. `more`: additional query parameters. */
  url(): string {
    const addresses = this.#nodes.map(({ port }) => `addr=127.0.0.1:${port}`).join("&");
    return `redis://127.0.0.1:${this.#nodes[0]?.port}?cluster=true&${addresses}`;
  }

  /** The master that owns a key's slot, its replica's port, and how many keys it has. */
  async masterOf(key: string): Promise<{ readonly server: RedisServer; readonly keys: number }> {
    const slot = Number(await ask(this.#living(), ["CLUSTER", "KEYSLOT", key]));
    const lines = String(await ask(this.#living(), ["CLUSTER", "NODES"])).split("\n");
    for (const line of lines) {
      const [, address = "", flags = "", , , , , ...slots] = line.split(" ");
      const has = slots.some((range) => {
        const [from = Number.NaN, to = from] = range.split("-").map(Number);
        return from <= slot && slot <= to;
      });
      if (!has || !flags.includes("master") || flags.includes("fail")) continue;
      const port = Number(/:(\d+)@/.exec(address)?.[1]);
      const server = this.#nodes.find((node) => node.port === port);
      if (server !== undefined) return { server, keys: Number(await ask(port, ["DBSIZE"])) };
    }
    throw new Error("no master has that slot");
  }

  /** Resolves once every slot is served and every replica has caught up with its master. */
  async ready(): Promise<void> {
    await until(async () => {
      const infos = await Promise.all(this.#ports().map((port) => ask(port, ["CLUSTER", "INFO"])));
      if (!infos.every((info) => /cluster_state:ok/.test(String(info)))) return false;
      const links = await Promise.all(this.#ports().map((port) => ask(port, ["INFO", "replication"])));
      return links.every((info) => !String(info).includes("role:slave") || /master_link_status:up/.test(String(info)));
    });
  }

  async stop(): Promise<void> {
    for (const node of [...this.#nodes].reverse()) await node.stop();
  }

  async #join(): Promise<void> {
    const [first] = this.#nodes;
    for (const [index, { port }] of this.#nodes.entries()) {
      const range = ranges[index];
      if (range !== undefined) await ask(port, ["CLUSTER", "ADDSLOTSRANGE", ...range]);
      await ask(port, ["CLUSTER", "SET-CONFIG-EPOCH", String(index + 1)]);
      if (index > 0) await ask(port, ["CLUSTER", "MEET", "127.0.0.1", String(first?.port)]);
    }
    await until(async () => {
      const infos = await Promise.all(this.#ports().map((port) => ask(port, ["CLUSTER", "INFO"])));
      return infos.every((info) => String(info).includes(`cluster_known_nodes:${this.#nodes.length}`));
    });
    for (const [index, { port }] of this.#nodes.slice(ranges.length).entries()) {
      const master = String(await ask(this.#nodes[index]?.port ?? 0, ["CLUSTER", "MYID"]));
      // A node that knows the master only from gossip has not connected to it yet.
      await until(() =>
        ask(port, ["CLUSTER", "REPLICATE", master]).then(
          () => true,
          () => false,
        ),
      );
    }
    await this.ready();
  }

  #ports(): readonly number[] {
    return this.#nodes.filter(({ isRunning }) => isRunning).map(({ port }) => port);
  }

  #living(): number {
    return this.#ports()[0] ?? 0;
  }
}

/** Sends one command to one server. */
export async function ask(port: number, words: readonly string[]): Promise<unknown> {
  const client = createClient({ url: `redis://127.0.0.1:${port}` });
  client.on("error", () => {});
  await client.connect();
  try {
    return await client.sendCommand([...words]);
  } finally {
    client.destroy();
  }
}

/** Whether a replica has caught up with its master. */
export async function isSynced(port: number): Promise<boolean> {
  return String(await ask(port, ["INFO", "replication"])).includes("master_link_status:up");
}
