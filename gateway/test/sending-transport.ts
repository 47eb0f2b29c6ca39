import { asFailure, type CallSignal } from "#core/index.ts";
import type { AnswerListener, OutboundAnswer, OutboundRequest, Transport } from "#ports/index.ts";

/** A transport for tests that only need `send`. */
export abstract class SendingTransport implements Transport {
  abstract send(request: OutboundRequest, signal: CallSignal): Promise<OutboundAnswer>;

  begin(request: OutboundRequest, signal: CallSignal, listener: AnswerListener): void {
    this.send(request, signal).then(
      (answer) => listener.onAnswer(answer),
      (thrown: unknown) => listener.onFailure(asFailure(thrown)),
    );
  }
}

export function transportOf(send: Transport["send"]): Transport {
  return new (class extends SendingTransport {
    send = send;
  })();
}
