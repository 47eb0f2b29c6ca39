import { type ApiDependencies, type ApiServer, type ServerCertificate, serveApi } from "#api/index.ts";
import type { Environment } from "#config/index.ts";
import { bounds } from "#core/index.ts";
import { CallerConnections } from "#http-server/index.ts";
import { SharedPort, type SharedPorts, type WorkerLink } from "#workers/index.ts";
import { CannotStart } from "./cannot-start.ts";
import { RenewableServer } from "./renewable-server.ts";

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
  /** WebSockets end with what is under way on them. */
  leaveSockets(): void;
  /** Connections that are open; null: not known. */
  connections(): number | null;
  /** Where the ports are shared: new connections go to the listeners at these places only, or to all again. */
  steer(places: readonly number[] | null): Promise<boolean>;
  /** New connections are shown this certificate. Throws CannotStart; then nothing was changed. Not for ports that are shared. */
  renew(certificate: ServerCertificate): Promise<void>;
  stop(): Promise<void>;
}

interface ListenersOptions {
  readonly environment: Environment;
  readonly idleSeconds?: number;
  /** The ports speak TLS; null: plain HTTP. */
  readonly certificate: ServerCertificate | null;
  /** Other workers have them open too, unless this is `alone`; `ports` are those that were found before. */
  readonly shared?: { readonly ports: SharedPorts | null; readonly alone: boolean };
}

/** Opens them when it is this worker's turn; at once where `link` is null, because it is the only process. */
export async function openListenersInTurn(
  apiDependencies: ApiDependencies,
  options: Omit<ListenersOptions, "shared">,
  link: WorkerLink | null,
): Promise<Listeners> {
  if (link === null) return openListeners(apiDependencies, options);
  const listeners = openListeners(apiDependencies, { ...options, shared: await link.turnToListen() });
  link.onSteer(listeners.steer);
  const console = options.environment.admin === null ? null : listeners.console.port;
  link.listening({ calls: listeners.calls.port, console });
  return listeners;
}

/** Throws CannotStart when one cannot be opened; none is then. */
function openListeners(apiDependencies: ApiDependencies, options: ListenersOptions): Listeners {
  const { host, port, admin, trustedProxies } = options.environment;
  const { idleSeconds, shared, certificate } = options;
  const common = { trustedProxies, ...(idleSeconds === undefined ? {} : { idleSeconds }) };
  const open = (own: Place, variables: string): ApiServer => {
    const dependencies = own.role === "console" ? withOwnRoom(apiDependencies) : apiDependencies;
    if (certificate === null && shared === undefined) return openPort(dependencies, { ...common, ...own }, variables);
    // Whoever shares a port is not told that a stranger has it too.
    if (shared?.alone !== false && own.port !== 0)
      void openPort(dependencies, { ...common, ...own }, variables).stop(true);
    const openWith = (place: Place, tls: { certificate?: ServerCertificate }): ApiServer =>
      openPort(dependencies, { ...common, ...place, ...tls, shared: true }, variables);
    if (certificate === null) return openWith(own, {});
    return new RenewableServer(openWith(own, { certificate }), {
      open: (port, next) => openWith({ ...own, port }, { certificate: next }),
      clock: apiDependencies.clock,
      silentMs: idleSeconds === undefined ? bounds.idleConnectionMs : idleSeconds * 1_000,
    });
  };
  const callsPort = shared?.ports?.calls ?? port;
  if (admin === null) return listenersOf(open({ hostname: host, port: callsPort }, "SLUICE"), null);
  const calls = open({ hostname: host, port: callsPort, role: "calls" }, "SLUICE");
  try {
    const consolePort = shared?.ports?.console ?? admin.port;
    return listenersOf(calls, open({ hostname: admin.host, port: consolePort, role: "console" }, "SLUICE_ADMIN"));
  } catch (thrown) {
    void calls.stop(true);
    throw thrown;
  }
}

/** Callers who take every connection of their port leave those of the console's. */
function withOwnRoom(apiDependencies: ApiDependencies): ApiDependencies {
  const max = Math.min(bounds.consoleConnectionsMax, Math.ceil(apiDependencies.connections.max / 4));
  const limits = { max, perAddressMax: null, isShared: () => false };
  return { ...apiDependencies, connections: new CallerConnections(limits, apiDependencies.clock) };
}

interface Place {
  readonly hostname: string;
  readonly port: number;
  readonly role?: "calls" | "console";
}

/** `apart`: the console's own; null: it is served where calls are. */
function listenersOf(calls: ApiServer, apart: ApiServer | null): Listeners {
  const servers = apart === null ? [calls] : [calls, apart];
  const sharedPorts = servers.map((server) => new SharedPort(server.port));
  return {
    calls,
    console: apart ?? calls,
    pending: () => servers.reduce((pending, server) => pending + server.pending(), 0),
    sockets: calls.sockets,
    leave: () => calls.leave(),
    leaveSockets: () => calls.leaveSockets(),
    connections: () =>
      sharedPorts.reduce<number | null>((open, sharedPort) => {
        const more = sharedPort.connections();
        return open === null || more === null ? null : open + more;
      }, 0),
    steer: async (places) =>
      (await Promise.all(sharedPorts.map((sharedPort) => sharedPort.steer(places)))).every((done) => done),
    renew: async (certificate) => {
      for (const server of servers) if (server instanceof RenewableServer) await server.renew(certificate);
    },
    stop: async () => {
      await Promise.all(servers.map((server) => server.stop(true)));
    },
  };
}

/** A host as a person would open it. */
export function shownOrigin({ tls }: Pick<Environment, "tls">, host: string, port: number): string {
  const name = host === "127.0.0.1" || host === "::1" ? "localhost" : host;
  return `${tls === null ? "http" : "https"}://${name.includes(":") && !name.startsWith("[") ? `[${name}]` : name}:${port}`;
}

/** What callers use, where that is known; null: the address that they came to, since there is one for everything. */
export function callsUrlOf(environment: Environment, port: number): string | null {
  const { publicUrl, admin, host } = environment;
  return publicUrl ?? (admin === null ? null : shownOrigin(environment, host, port));
}

/** The same as a link to it needs it; null: at the address that callers use. `port`: that of a listener of its own. */
export function consoleOrigin(environment: Environment, port?: number): string | null {
  const { admin } = environment;
  if (admin === null) return environment.publicUrl;
  return admin.url ?? shownOrigin(environment, admin.host, port ?? admin.port);
}

/** Where the console is opened, as configured; null: at this machine's own names. */
export function consoleUrl({ publicUrl, admin }: Environment): string | null {
  return admin === null ? publicUrl : admin.url;
}

/** Opens the port. Throws CannotStart, naming the address, when this machine does not let us. */
function openPort(
  apiDependencies: ApiDependencies,
  options: Parameters<typeof serveApi>[1],
  variables = "SLUICE",
): ApiServer {
  try {
    return serveApi(apiDependencies, options);
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
    const reason = reasons[code];
    if (reason === undefined) throw cause;
    throw new CannotStart(`${reason(options.hostname, options.port, variables)}.`, { cause });
  }
}

const reasons: Readonly<Record<string, (host: string, port: number, variables: string) => string>> = {
  EADDRINUSE: (host, port, variables) =>
    `Port ${port} of ${host} is already in use; stop what listens there or set ${variables}_PORT`,
  EACCES: (_, port, variables) =>
    `This user may not listen on port ${port} (those below 1024 need a privilege); set ${variables}_PORT`,
  EADDRNOTAVAIL: (host, _, variables) => `${variables}_HOST is ${host}, which is not an address of this machine`,
};
