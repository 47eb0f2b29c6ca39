import { asFailure } from "#core/index.ts";
import type { Transport } from "#ports/index.ts";
import { demoScheme, sendInProcess } from "./in-process.ts";
import { RouteTable, type TransportOptions } from "./route-table.ts";
import { SocketTransport } from "./socket-transport.ts";

export function createTransport(options: TransportOptions): Transport {
  const { clock, inProcess = new Map() } = options;
  const sockets = new SocketTransport(clock, new RouteTable(options));
  return {
    send: (request, signal) =>
      request.url.startsWith(demoScheme)
        ? sendInProcess(clock, inProcess, request, signal)
        : sockets.send(request, signal),
    begin(request, signal, listener) {
      if (!request.url.startsWith(demoScheme)) sockets.begin(request, signal, listener);
      else
        sendInProcess(clock, inProcess, request, signal).then(
          (answer) => listener.onAnswer(answer),
          (thrown: unknown) => listener.onFailure(asFailure(thrown)),
        );
    },
  };
}
