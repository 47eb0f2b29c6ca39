import { join } from "node:path";
import type { Contender } from "../contender.ts";
import { benchDirectory, type Run } from "../run.ts";

/** Another gateway that the bench runs where somebody has installed it. */
export interface Peer {
  readonly title: string;
  /** What it governs as it runs here, in words: a figure without that is no comparison. */
  readonly governs: string;
  /** The command that installs it. */
  readonly install: string;
  isInstalled(): Promise<boolean>;
  start(run: Run): Promise<Contender>;
}

/** Peers are installed here, beside nothing that Sluice needs; git does not keep it. */
export const peersDirectory = join(benchDirectory, "peers");
