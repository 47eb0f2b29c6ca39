import { type ApiDependencies, type ApiServer, type ServerCertificate, serveApi } from "#api/index.ts";
import type { Environment } from "#config/index.ts";
import { bounds } from "#core/index.ts";
import { CallerConnections } from "#http-server/index.ts";
import type { Clock } from "#ports/index.ts";
import { SharedPort, type SharedPorts, type WorkerLink } from "#workers/index.ts";
import type { Certificate } from "./certificate.ts";
import { CannotStart } from "./control.ts";

const consoleConnectionsMax = 256;

interface ListenersOptions {
  readonly environment: Environment;
  readonly clock: Clock;
  readonly idleSeconds?: number | undefined;
  /** null for plain HTTP. */
  readonly certificate: Certificate | null;
}

/** How ports are shared with other workers. `alone`: no other worker is listening. `ports`: those that the others use. */
interface Sharing {
  readonly ports: SharedPorts | null;
  readonly alone: boolean;
}

/** The ports of the gateway: one for everything, or one for calls and one for the console. Closed until `open`. */
export class Listeners {
  readonly #options: ListenersOptions;
  #certificate: Certificate | null;
  /** The server for calls, then the one for the console if it has its own port. */
  #servers: readonly ApiServer[] = [];
  #sharedPorts: readonly SharedPort[] = [];

  constructor(options: ListenersOptions) {
    this.#options = options;
    this.#certificate = options.certificate;
  }

  /** Opens the ports, in a worker when it is its turn. Throws CannotStart if one cannot be opened; then none stays open. */
  async open(dependencies: ApiDependencies, link: WorkerLink | null): Promise<void> {
    if (link === null) return this.#openAll(dependencies, null);
    this.#openAll(dependencies, await link.turnToListen());
    link.onSteer((indexes) => this.#steer(indexes));
    const console = this.#options.environment.admin === null ? null : this.console.port;
    link.listening({ calls: this.calls.port, console });
  }

  #openAll(dependencies: ApiDependencies, shared: Sharing | null): void {
    const { host, port, admin } = this.#options.environment;
    const callsPort = shared?.ports?.calls ?? port;
    const role = admin === null ? {} : ({ role: "calls" } as const);
    const calls = this.#openOne(dependencies, { hostname: host, port: callsPort, ...role }, shared, "SLUICE");
    this.#servers = [calls];
    if (admin !== null) {
      const console: Address = { hostname: admin.host, port: shared?.ports?.console ?? admin.port, role: "console" };
      try {
        this.#servers = [calls, this.#openOne(withOwnConnections(dependencies), console, shared, "SLUICE_ADMIN")];
      } catch (thrown) {
        this.#servers = [];
        void calls.stop(true);
        throw thrown;
      }
    }
    this.#sharedPorts = this.#servers.map((server) => new SharedPort(server.port));
  }

  #openOne(dependencies: ApiDependencies, own: Address, shared: Sharing | null, variables: string): ApiServer {
    const { environment, idleSeconds, clock } = this.#options;
    const certificate = this.#certificate;
    const { trustedProxies } = environment;
    const common = { trustedProxies, ...(idleSeconds === undefined ? {} : { idleSeconds }) };
    if (certificate === null && shared === null) return openPort(dependencies, { ...common, ...own }, variables);
    // Opening a shared port does not fail if another program uses it, so open it exclusively first.
    if (shared?.alone !== false && own.port !== 0)
      void openPort(dependencies, { ...common, ...own }, variables).stop(true);
    const openWith = (address: Address, tls: { certificate?: ServerCertificate }): ApiServer =>
      openPort(dependencies, { ...common, ...address, ...tls, shared: true }, variables);
    if (certificate === null) return openWith(own, {});
    return new RenewableServer(openWith(own, { certificate }), {
      open: (port, next) => openWith({ ...own, port }, { certificate: next }),
      clock,
      idleMs: idleSeconds === undefined ? bounds.idleConnectionMs : idleSeconds * 1_000,
    });
  }

  get calls(): ApiServer {
    const [calls] = this.#servers;
    if (calls === undefined) throw new Error("The ports are not open.");
    return calls;
  }

  /** The server for the console, the admin API, metrics and documents. */
  get console(): ApiServer {
    return this.#servers[1] ?? this.calls;
  }

  /** URL for callers; null if it is not configured and callers use the address they came to. */
  get callsUrl(): string | null {
    const { environment } = this.#options;
    const { publicUrl, admin, host, port } = environment;
    return publicUrl ?? (admin === null ? null : shownOrigin(environment, host, this.#servers[0]?.port ?? port));
  }

  /** URL for links to the console; null if it is the address of callers. */
  get consoleUrl(): string | null {
    const { environment } = this.#options;
    const { publicUrl, admin } = environment;
    if (admin === null) return publicUrl;
    return admin.url ?? shownOrigin(environment, admin.host, this.#servers[1]?.port ?? admin.port);
  }

  /** Expiry of the current certificate in Unix milliseconds; null for plain HTTP. */
  get certificateEndsAt(): number | null {
    return this.#certificate?.endsAt ?? null;
  }

  pending(): number {
    return this.#servers.reduce((pending, server) => pending + server.pending(), 0);
  }

  /** Number of open WebSockets. */
  sockets(): number {
    return this.#servers[0]?.sockets() ?? 0;
  }

  /** Closes the port for calls; running calls continue. A separate port of the console stays open. */
  leave(): void {
    this.calls.leave();
  }

  /** Closes each WebSocket after its running calls. */
  leaveSockets(): void {
    this.calls.leaveSockets();
  }

  /** Number of open connections; null if unknown. */
  connections(): number | null {
    return this.#sharedPorts.reduce<number | null>((open, sharedPort) => {
      const more = sharedPort.connections();
      return open === null || more === null ? null : open + more;
    }, 0);
  }

  /** Sends new connections to the listeners with these indexes only; null: to all. */
  async #steer(indexes: readonly number[] | null): Promise<boolean> {
    return (await Promise.all(this.#sharedPorts.map((sharedPort) => sharedPort.steer(indexes)))).every((done) => done);
  }

  /** Uses the certificate for new connections. Throws CannotStart, and then changes nothing. Not for shared ports. */
  async renew(certificate: Certificate): Promise<void> {
    for (const server of this.#servers) if (server instanceof RenewableServer) await server.renew(certificate);
    this.#certificate = certificate;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.stop(true)));
  }
}

/** The console stays reachable when callers use up every connection of their port. */
function withOwnConnections(dependencies: ApiDependencies): ApiDependencies {
  const max = Math.min(consoleConnectionsMax, Math.ceil(dependencies.connections.max / 4));
  const limits = { max, perAddressMax: null, isShared: () => false };
  return { ...dependencies, connections: new CallerConnections(limits, dependencies.clock) };
}

interface Address {
  readonly hostname: string;
  readonly port: number;
  readonly role?: "calls" | "console";
}

/** The URL to open in a browser. */
export function shownOrigin({ tls }: Pick<Environment, "tls">, host: string, port: number): string {
  const name = host === "127.0.0.1" || host === "::1" ? "localhost" : host;
  return `${tls === null ? "http" : "https"}://${name.includes(":") && !name.startsWith("[") ? `[${name}]` : name}:${port}`;
}

/** The configured URL of the console; null if none is. */
export function consoleUrl({ publicUrl, admin }: Environment): string | null {
  return admin === null ? publicUrl : admin.url;
}

/** Throws CannotStart, naming the address, if the system refuses. `variables`: prefix of the settings to change. */
function openPort(
  dependencies: ApiDependencies,
  options: Parameters<typeof serveApi>[1],
  variables: string,
): ApiServer {
  try {
    return serveApi(dependencies, options);
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

interface RenewableServerOptions {
  /** Opens the port, next to the current listener. */
  readonly open: (port: number, certificate: ServerCertificate) => ApiServer;
  readonly clock: Clock;
  /** Idle timeout of connections. */
  readonly idleMs: number;
}

/**
 * A TLS port whose certificate can be renewed. A listener of the runtime keeps its first certificate, so a new listener takes over the
 * port: both listen for a moment, the kernel sends new connections to the new one, and the old one closes with its connections.
 */
class RenewableServer implements ApiServer {
  readonly #options: RenewableServerOptions;
  /** Servers that still have connections. */
  readonly #servers: Set<ApiServer>;
  /** Servers that listen, in the kernel's order: a new one is appended, and the last one replaces one that closes. */
  readonly #listening: ApiServer[];
  #current: ApiServer;
  #renewing: Promise<void> = Promise.resolve();
  #ended = false;

  constructor(first: ApiServer, options: RenewableServerOptions) {
    this.#options = options;
    this.#current = first;
    this.#servers = new Set([first]);
    this.#listening = [first];
  }

  get port(): number {
    return this.#current.port;
  }

  readonly sockets = (): number => this.#sum((server) => server.sockets());
  readonly pending = (): number => this.#sum((server) => server.pending());

  /** Uses the certificate for new connections. Throws what opening the port throws, and then changes nothing. */
  renew(certificate: ServerCertificate): Promise<void> {
    const renewed = this.#renewing.then(() => this.#renew(certificate));
    this.#renewing = renewed.catch(() => undefined);
    return renewed;
  }

  async #renew(certificate: ServerCertificate): Promise<void> {
    if (this.#ended) return;
    const { open, clock, idleMs } = this.#options;
    const old = this.#current;
    this.#current = open(old.port, certificate);
    this.#listening.push(this.#current);
    this.#servers.add(this.#current);
    await this.#steer();
    old.retire();
    // By then each of its connections was closed by an answer or the idle timeout.
    void clock.after(idleMs, () => this.#close(old));
  }

  #close(old: ApiServer): void {
    if (this.#ended) return;
    void old.closePort().finally(() => this.#servers.delete(old));
    const index = this.#listening.indexOf(old);
    const last = this.#listening.pop();
    if (last !== undefined && last !== old) this.#listening[index] = last;
    void this.#steer();
  }

  /** If the kernel does not support it, each listener gets a part of the new connections until the old ones close. */
  async #steer(): Promise<void> {
    const index = this.#listening.indexOf(this.#current);
    await new SharedPort(this.port).steer(this.#listening.length === 1 ? null : [index]);
  }

  leave(): void {
    this.#ended = true;
    for (const server of this.#servers) server.leave();
  }

  leaveSockets(): void {
    for (const server of this.#servers) server.leaveSockets();
  }

  retire(): void {
    for (const server of this.#servers) server.retire();
  }

  async closePort(): Promise<void> {
    this.#ended = true;
    await Promise.all([...this.#servers].map((server) => server.closePort()));
  }

  async stop(now: boolean): Promise<void> {
    this.#ended = true;
    await Promise.all([...this.#servers].map((server) => server.stop(now)));
  }

  #sum(count: (server: ApiServer) => number): number {
    let sum = 0;
    for (const server of this.#servers) sum += count(server);
    return sum;
  }
}
