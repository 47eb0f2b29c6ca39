import type { Egress, ExemptRule } from "#core/index.ts";
import type { Clock, Transport } from "#ports/index.ts";
import { demoScheme, type InProcessHandler, InProcessTransport } from "./in-process.ts";
import { type Resolve, systemResolve } from "./names.ts";
import { RouteTable } from "./route-table.ts";
import { SocketTransport } from "./socket-transport.ts";

export interface TransportOptions {
  readonly clock: Clock;
  /** Handlers by the host of their `demo:` URLs. */
  readonly inProcess?: ReadonlyMap<string, InProcessHandler>;
  /** How names become addresses; the machine's resolver by default. */
  readonly resolve?: Resolve;
  /** Certificate authorities (PEM) to trust instead of the machine's own: a closed network, a test. */
  readonly authorities?: readonly string[] | undefined;
  /** The proxies that calls leave by; null or left out: none. Those of the process's environment are never asked unseen. */
  readonly egress?: Egress | null;
  /** Private places that webhooks may go to; left out: none. */
  readonly webhookPlaces?: readonly ExemptRule[];
}

export function createTransport(options: TransportOptions): Transport {
  const { clock, inProcess, resolve = systemResolve, authorities, egress, webhookPlaces } = options;
  const sockets = new SocketTransport(clock, new RouteTable({ clock, resolve, authorities, egress, webhookPlaces }));
  const here = new InProcessTransport(clock, inProcess);
  return {
    send: (request, signal) => (request.url.startsWith(demoScheme) ? here : sockets).send(request, signal),
  };
}
