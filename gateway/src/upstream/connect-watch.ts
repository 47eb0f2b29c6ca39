import { connect } from "node:net";
import { bounds } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";
import type { Exchange } from "./exchange.ts";
import type { Route, Target } from "./route-table.ts";
import { timedOut } from "./send-failure.ts";

/**
 * The connect clock. Fetch neither has a connect time-out nor tells whether a request travels on a new connection or a
 * kept one, so life is judged from outside. An address is alive when it has answered, or when a bare connection to it
 * (a probe) was accepted or refused: both take a machine that is there, and a refusal reaches the request by itself.
 *
 * - An address that has been silent for a while is probed beside the request. Steady traffic causes no probes.
 * - When `connectMs` have passed without an answer to this request, and nothing at all has been heard from the address
 *   since it was sent, the request fails with the connect time-out. If no probe ran during that time (the address had been
 *   alive a moment before), one is made now and given the same time again.
 *
 * What it cannot do: a TLS handshake that hangs behind an accepted connection is waited for under the headers clock, and a
 * request on a kept connection is given up too if its upstream drops new connections and says nothing for that long.
 */
export function watchConnect(clock: Clock, exchange: Exchange, route: Route, target: Target, connectMs: number): void {
  const sentMs = clock.monotonic();
  let probed = sentMs - target.lifeMs > bounds.addressSilenceMs;
  if (probed) probe(clock, target);
  const judge = (): void => {
    if (target.lifeMs >= sentMs) return;
    if (probed) {
      route.preferred = (route.targets.indexOf(target) + 1) % route.targets.length;
      exchange.fail(timedOut("connect", connectMs));
      return;
    }
    probed = true;
    probe(clock, target);
    exchange.checkAt(clock.monotonic() + connectMs, judge);
  };
  exchange.checkAt(sentMs + connectMs, judge);
}

/** One probe per address at a time, however many requests wait for its outcome. */
function probe(clock: Clock, target: Target): void {
  if (target.probing) return;
  target.probing = true;
  const socket = connect({ host: target.address, port: target.port }).unref();
  const end = (alive: boolean): void => {
    if (alive) target.lifeMs = clock.monotonic();
    target.probing = false;
    cancel();
    socket.destroy();
  };
  const cancel = clock.after(bounds.probeMs, () => end(false));
  socket.once("connect", () => end(true));
  socket.on("error", (error: NodeJS.ErrnoException) => end(error.code === "ECONNREFUSED"));
}
