import { join } from "node:path";
import type { Contender } from "../contender.ts";
import { benchDirectory, type Run } from "../run.ts";

/** Another gateway, which the bench runs if it is installed. */
export interface Peer {
  readonly title: string;
  /** Description of its active checks and limits in this setup, which a fair comparison needs. */
  readonly governs: string;
  /** Command to install it. */
  readonly install: string;
  isInstalled(): Promise<boolean>;
  start(run: Run): Promise<Contender>;
}

/** Directory of installed peers, separate from Sluice's dependencies. Ignored by git. */
export const peersDirectory = join(benchDirectory, "peers");
