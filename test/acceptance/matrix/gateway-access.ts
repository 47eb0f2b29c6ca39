import type { Exchange } from "./call-spec.ts";

/** How the callers of the matrix reach the gateway. */
export interface GatewayAccess {
  /** The gateway's address, without a path. */
  readonly url: string;
  readonly key: string;
  /** Called at the start of every exchange. */
  readonly onExchange?: (exchange: Exchange) => void;
}
