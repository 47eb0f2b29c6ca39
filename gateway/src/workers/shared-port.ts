import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/**
 * Counts the connections of a shared port and steers new ones. Works on Linux with access to /proc and the C library. Elsewhere,
 * `connections` returns null and `steer` false.
 */
export class SharedPort {
  readonly #port: number;

  constructor(port: number) {
    this.#port = port;
  }

  /** The number of connections of this process. */
  connections(): number | null {
    const own = this.#ownSockets();
    return own === null ? null : own.filter(({ state }) => state !== listenState).length;
  }

  /** Sends new connections only to the listeners at these indexes, for all processes; null: to all. False: not possible. */
  async steer(places: readonly number[] | null): Promise<boolean> {
    const listener = this.#ownSockets()?.find(({ state }) => state === listenState);
    if (listener === undefined) return false;
    try {
      const { setReusePortFilter } = await import("./reuse-port-filter.ts");
      return setReusePortFilter(listener.descriptor, places);
    } catch {
      return false;
    }
  }

  #ownSockets(): readonly OwnSocket[] | null {
    try {
      const own = ownInodes();
      return ["tcp", "tcp6"].flatMap((family) => socketsOf(family, this.#port, own));
    } catch {
      return null;
    }
  }
}

interface OwnSocket {
  readonly descriptor: number;
  readonly state: string;
}

/** TCP_LISTEN in /proc/net/tcp. */
const listenState = "0A";

function ownInodes(): ReadonlyMap<string, number> {
  const inodes = new Map<string, number>();
  for (const descriptor of readdirSync("/proc/self/fd")) {
    try {
      const inode = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/self/fd/${descriptor}`))?.[1];
      if (inode !== undefined) inodes.set(inode, Number(descriptor));
    } catch {
      // The file descriptor was closed meanwhile.
    }
  }
  return inodes;
}

/** `sl local remote state tx:rx tr:when retrnsmt uid timeout inode …`, addresses in hexadecimal (proc(5)). */
function socketsOf(family: string, port: number, own: ReadonlyMap<string, number>): OwnSocket[] {
  let text: string;
  try {
    text = readFileSync(`/proc/self/net/${family}`, "latin1");
  } catch (thrown) {
    // Machines without IPv6 have no such table.
    if (family === "tcp6") return [];
    throw thrown;
  }
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  return text.split("\n").flatMap((line) => {
    const columns = line.trim().split(/\s+/);
    if (columns[1]?.endsWith(suffix) !== true) return [];
    const descriptor = own.get(columns[9] ?? "");
    return descriptor === undefined ? [] : [{ descriptor, state: columns[3] ?? "" }];
  });
}
