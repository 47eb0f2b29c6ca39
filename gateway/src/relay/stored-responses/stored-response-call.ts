import type { CallSignal, HeaderReader, Principal } from "#core/index.ts";
import type { EndpointProtocol } from "../call.ts";

/** A call about an answer that an upstream keeps: to see it, cancel it, delete it. */
export interface StoredResponseCall {
  readonly requestId: string;
  readonly principal: Principal;
  readonly protocol: EndpointProtocol;
  readonly upstreamId: string;
  readonly method: "GET" | "POST" | "DELETE";
  /** Behind the id in the path: nothing, `/cancel`, `/input_items`. */
  readonly rest: string;
  /** Without `?`; may be empty. */
  readonly query: string;
  readonly headers: HeaderReader;
  readonly signal: CallSignal;
  readonly startedMs: number;
  readonly mayCall: (model: string) => boolean;
  readonly streamEnd: () => void;
}
