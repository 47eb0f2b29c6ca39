import type { Taped } from "./ask.ts";

/** Where the callers of the matrix knock. */
export interface GatewayAccess {
  /** The gateway's address, without a path. */
  readonly url: string;
  readonly key: string;
  /** Told of every exchange as it begins. */
  readonly onExchange?: (exchange: Taped) => void;
}
