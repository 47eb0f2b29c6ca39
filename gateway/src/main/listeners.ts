import { type ApiDependencies, type ApiServer, type ServerCertificate, serveApi } from "#api/index.ts";
import type { Environment } from "#config/index.ts";
import { bounds } from "#core/index.ts";
import { CallerConnections } from "#http-server/index.ts";
import type { Clock } from "#ports/index.ts";
import { SharedPort, type SharedPorts, type WorkerLink } from "#workers/index.ts";
import type { Certificate } from "./certificate.ts";
import { CannotStart } from "./control.ts";

/** At a port of the console's own. */
const consoleConnectionsMax = 256;

interface ListenersOptions {
  readonly environment: Environment;
  readonly clock: Clock;
  readonly idleSeconds?: number | undefined;
  /** The ports speak TLS; null: plain HTTP. */
  readonly certificate: Certificate | null;
}

/** Other workers have the ports open too, unless this is `alone`; `ports` are those that were found before. */
interface Sharing {
  readonly ports: SharedPorts | null;
  readonly alone: boolean;
}

/** The ports of the gateway: one for everything, or one for calls and one for those who run it. None is open before `open`. */
export class Listeners {
  readonly #options: ListenersOptions;
  #certificate: Certificate | null;
  /** That of calls, and behind it that of the console where it has one of its own. */
  #servers: readonly ApiServer[] = [];
  #sharedPorts: readonly SharedPort[] = [];

  constructor(options: ListenersOptions) {
    this.#options = options;
    this.#certificate = options.certificate;
  }

  /**
   * Opens them when it is this worker's turn; at once where `link` is null, because it is the only process. Throws CannotStart when one
   * cannot be opened; none is then.
   */
  async open(dependencies: ApiDependencies, link: WorkerLink | null): Promise<void> {
    if (link === null) return this.#openAll(dependencies, null);
    this.#openAll(dependencies, await link.turnToListen());
    link.onSteer((places) => this.#steer(places));
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
      const place: Place = { hostname: admin.host, port: shared?.ports?.console ?? admin.port, role: "console" };
      try {
        this.#servers = [calls, this.#openOne(withOwnRoom(dependencies), place, shared, "SLUICE_ADMIN")];
      } catch (thrown) {
        this.#servers = [];
        void calls.stop(true);
        throw thrown;
      }
    }
    this.#sharedPorts = this.#servers.map((server) => new SharedPort(server.port));
  }

  #openOne(dependencies: ApiDependencies, own: Place, shared: Sharing | null, variables: string): ApiServer {
    const { environment, idleSeconds, clock } = this.#options;
    const certificate = this.#certificate;
    const { trustedProxies } = environment;
    const common = { trustedProxies, ...(idleSeconds === undefined ? {} : { idleSeconds }) };
    if (certificate === null && shared === null) return openPort(dependencies, { ...common, ...own }, variables);
    // Whoever shares a port is not told that a stranger has it too.
    if (shared?.alone !== false && own.port !== 0)
      void openPort(dependencies, { ...common, ...own }, variables).stop(true);
    const openWith = (place: Place, tls: { certificate?: ServerCertificate }): ApiServer =>
      openPort(dependencies, { ...common, ...place, ...tls, shared: true }, variables);
    if (certificate === null) return openWith(own, {});
    return new RenewableServer(openWith(own, { certificate }), {
      open: (port, next) => openWith({ ...own, port }, { certificate: next }),
      clock,
      silentMs: idleSeconds === undefined ? bounds.idleConnectionMs : idleSeconds * 1_000,
    });
  }

  get calls(): ApiServer {
    const [calls] = this.#servers;
    if (calls === undefined) throw new Error("The ports are not open.");
    return calls;
  }

  /** Where the console, the admin API, metrics and documents are. */
  get console(): ApiServer {
    return this.#servers[1] ?? this.calls;
  }

  /** What callers use, where that is known; null: the address that they came to, since there is one for everything. */
  get callsUrl(): string | null {
    const { environment } = this.#options;
    const { publicUrl, admin, host, port } = environment;
    return publicUrl ?? (admin === null ? null : shownOrigin(environment, host, this.#servers[0]?.port ?? port));
  }

  /** Where the console is, as a link to it needs it; null: at the address that callers use. */
  get consoleUrl(): string | null {
    const { environment } = this.#options;
    const { publicUrl, admin } = environment;
    if (admin === null) return publicUrl;
    return admin.url ?? shownOrigin(environment, admin.host, this.#servers[1]?.port ?? admin.port);
  }

  /** When the certificate ends that new connections are shown, in Unix milliseconds; null: the ports speak plain HTTP. */
  get certificateEndsAt(): number | null {
    return this.#certificate?.endsAt ?? null;
  }

  pending(): number {
    return this.#servers.reduce((pending, server) => pending + server.pending(), 0);
  }

  /** WebSockets that are open. */
  sockets(): number {
    return this.#servers[0]?.sockets() ?? 0;
  }

  /** Calls have no port any more; what is under way goes on. A port of the console's own stays until the end. */
  leave(): void {
    this.calls.leave();
  }

  /** WebSockets end with what is under way on them. */
  leaveSockets(): void {
    this.calls.leaveSockets();
  }

  /** Connections that are open; null: not known. */
  connections(): number | null {
    return this.#sharedPorts.reduce<number | null>((open, sharedPort) => {
      const more = sharedPort.connections();
      return open === null || more === null ? null : open + more;
    }, 0);
  }

  /** Where the ports are shared: new connections go to the listeners at these places only, or to all again. */
  async #steer(places: readonly number[] | null): Promise<boolean> {
    return (await Promise.all(this.#sharedPorts.map((sharedPort) => sharedPort.steer(places)))).every((done) => done);
  }

  /** New connections are shown this certificate. Throws CannotStart; then nothing was changed. Not for ports that are shared. */
  async renew(certificate: Certificate): Promise<void> {
    for (const server of this.#servers) if (server instanceof RenewableServer) await server.renew(certificate);
    this.#certificate = certificate;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.stop(true)));
  }
}

/** Callers who take every connection of their port leave those of the console's. */
function withOwnRoom(apiDependencies: ApiDependencies): ApiDependencies {
  const max = Math.min(consoleConnectionsMax, Math.ceil(apiDependencies.connections.max / 4));
  const limits = { max, perAddressMax: null, isShared: () => false };
  return { ...apiDependencies, connections: new CallerConnections(limits, apiDependencies.clock) };
}

interface Place {
  readonly hostname: string;
  readonly port: number;
  readonly role?: "calls" | "console";
}

/** A host as a person would open it. */
export function shownOrigin({ tls }: Pick<Environment, "tls">, host: string, port: number): string {
  const name = host === "127.0.0.1" || host === "::1" ? "localhost" : host;
  return `${tls === null ? "http" : "https"}://${name.includes(":") && !name.startsWith("[") ? `[${name}]` : name}:${port}`;
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

interface RenewableServerOptions {
  /** Opens the port beside whoever has it in this process. */
  readonly open: (port: number, certificate: ServerCertificate) => ApiServer;
  readonly clock: Clock;
  /** A connection on which nothing is under way has ended by itself after this long. */
  readonly silentMs: number;
}

/**
 * A port with TLS. Whoever listens by the runtime keeps the certificate that it began with, so another one takes the port over: both
 * listen for a moment, the system hands new connections to the new one alone, and the old one ends with its connections.
 */
class RenewableServer implements ApiServer {
  readonly #options: RenewableServerOptions;
  /** Those whose connections have not ended. */
  readonly #servers: Set<ApiServer>;
  /** Those that have the port open, in the kernel's own order: who opens it comes last, and the last takes the place of one that closes it. */
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

  /** Connections from now on are shown this certificate. Throws what opening the port throws; then nothing was changed. */
  renew(certificate: ServerCertificate): Promise<void> {
    const renewed = this.#renewing.then(() => this.#renew(certificate));
    this.#renewing = renewed.catch(() => undefined);
    return renewed;
  }

  async #renew(certificate: ServerCertificate): Promise<void> {
    if (this.#ended) return;
    const { open, clock, silentMs } = this.#options;
    const old = this.#current;
    this.#current = open(old.port, certificate);
    this.#listening.push(this.#current);
    this.#servers.add(this.#current);
    await this.#steer();
    old.retire();
    // By then an answer or the idle timeout has closed each of its connections.
    void clock.after(silentMs, () => this.#close(old));
  }

  #close(old: ApiServer): void {
    if (this.#ended) return;
    void old.closePort().finally(() => this.#servers.delete(old));
    const place = this.#listening.indexOf(old);
    const last = this.#listening.pop();
    if (last !== undefined && last !== old) this.#listening[place] = last;
    void this.#steer();
  }

  /** Where the system cannot be told, each listener gets a part of the new connections until the old ones are closed. */
  async #steer(): Promise<void> {
    const place = this.#listening.indexOf(this.#current);
    await new SharedPort(this.port).steer(this.#listening.length === 1 ? null : [place]);
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
