import type { ApiServer, ServerCertificate } from "#api/index.ts";
import type { Clock } from "#ports/index.ts";
import { SharedPort } from "#workers/index.ts";

export interface RenewableServerOptions {
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
export class RenewableServer implements ApiServer {
  readonly #open: RenewableServerOptions["open"];
  readonly #clock: Clock;
  readonly #silentMs: number;
  /** Those whose connections have not ended. */
  readonly #servers: Set<ApiServer>;
  /** Those that have the port open, in the kernel's own order: who opens it comes last, and the last takes the place of one that closes it. */
  readonly #listening: ApiServer[];
  #current: ApiServer;
  #renewing: Promise<void> = Promise.resolve();
  #ended = false;

  constructor(first: ApiServer, { open, clock, silentMs }: RenewableServerOptions) {
    this.#current = first;
    this.#servers = new Set([first]);
    this.#listening = [first];
    this.#open = open;
    this.#clock = clock;
    this.#silentMs = silentMs;
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
    const old = this.#current;
    this.#current = this.#open(old.port, certificate);
    this.#listening.push(this.#current);
    this.#servers.add(this.#current);
    await this.#steer();
    old.retire();
    // By then an answer or the idle timeout has closed each of its connections.
    void this.#clock.after(this.#silentMs, () => this.#close(old));
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
