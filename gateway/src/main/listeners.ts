import type { ApiDependencies, ApiServer } from "#api/index.ts";
import type { Environment } from "#config/index.ts";
import { openPort } from "./open-port.ts";

/** The ports that are open: one for everything, or one for calls and one for those who run the gateway. */
export interface Listeners {
  readonly calls: ApiServer;
  /** Where the console, the admin API, metrics and documents are. */
  readonly console: ApiServer;
  pending(): number;
  /** WebSockets that are open. */
  sockets(): number;
  /** Calls have no port any more; what is under way goes on. A port of the console's own stays until the end. */
  leave(): void;
  stop(): Promise<void>;
}

export interface ListenersOptions {
  readonly environment: Environment;
  readonly idleSeconds?: number;
}

/** Throws CannotStart when one cannot be opened; none is then. */
export function openListeners(
  apiDependencies: ApiDependencies,
  { environment, idleSeconds }: ListenersOptions,
): Listeners {
  const { host, port, admin, trustedProxies } = environment;
  const common = { trustedProxies, ...(idleSeconds === undefined ? {} : { idleSeconds }) };
  if (admin === null) {
    const calls = openPort(apiDependencies, { ...common, hostname: host, port });
    const { pending, sockets, leave } = calls;
    return { calls, console: calls, pending, sockets, leave, stop: () => calls.stop(true) };
  }
  const calls = openPort(apiDependencies, { ...common, hostname: host, port, role: "calls" });
  let console: ApiServer;
  try {
    console = openPort(
      apiDependencies,
      { ...common, hostname: admin.host, port: admin.port, role: "console" },
      "SLUICE_ADMIN",
    );
  } catch (thrown) {
    void calls.stop(true);
    throw thrown;
  }
  return {
    calls,
    console,
    pending: () => calls.pending() + console.pending(),
    sockets: calls.sockets,
    leave: calls.leave,
    stop: async () => {
      await Promise.all([calls.stop(true), console.stop(true)]);
    },
  };
}

/** A host as a person would open it. */
export function shownOrigin(host: string, port: number): string {
  const name = host === "127.0.0.1" || host === "::1" ? "localhost" : host;
  return `http://${name.includes(":") && !name.startsWith("[") ? `[${name}]` : name}:${port}`;
}

/** What callers use, where that is known; null: the address that they came to, since there is one for everything. */
export function callsUrlOf({ publicUrl, admin, host }: Environment, port: number): string | null {
  return publicUrl ?? (admin === null ? null : shownOrigin(host, port));
}

/** Where the console is opened, as configured; null: at this machine's own names. */
export function consoleUrl({ publicUrl, admin }: Environment): string | null {
  return admin === null ? publicUrl : admin.url;
}
