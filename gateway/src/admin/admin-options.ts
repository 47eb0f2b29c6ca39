import type { Setup } from "#identity/index.ts";
import type { Clock, Observer, StaticFiles } from "#ports/index.ts";

export interface AdminOptions {
  /** Holds `console/…` (the console's build) and `docs/…` (the API reference's own files, see `docsFiles`). */
  readonly files: StaticFiles;
  readonly setup: Setup;
  readonly clock: Clock;
  readonly observer: Observer;
  readonly version: string;
  /** What callers use; null: the address the request came to. */
  readonly publicUrl: string | null;
  /** True while only the built-in demo provider answers. */
  readonly demo: () => boolean;
}
