import type { Variables } from "#config/index.ts";

export interface ServeOptions {
  readonly variables: Variables;
  readonly version: string;
  /** The commit: its hash, with `-dirty` or `-checkout` behind it where files may differ; or `unknown`. */
  readonly revision: string;
  /** Shows the banner. */
  readonly print: (text: string) => void;
  /** A person reads what is printed, and nobody collects it. */
  readonly interactive: boolean;
}
