import { litellm } from "./litellm.ts";
import type { Peer } from "./peer.ts";
import { portkey } from "./portkey.ts";

export const peers: readonly Peer[] = [portkey, litellm];
