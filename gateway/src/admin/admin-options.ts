import type { Setup } from "#identity/index.ts";
import type { Clock, Observer, OpenTries, SignIn, StaticFiles } from "#ports/index.ts";
import type { ConsoleHandlerDependencies } from "./handlers/console-handlers.ts";
import type { MountOptions } from "./handlers/mount-handlers.ts";
import type { ScimDependencies } from "./scim/scim-calls.ts";
import type { SpendLimitDependencies } from "./spend-limits/spend-limit-calls.ts";
import type { StreamingDependencies } from "./streaming/mount-streaming-routes.ts";

/** Everything that the console's calls stand on. */
type AdminConsole = ConsoleHandlerDependencies &
  StreamingDependencies &
  ScimDependencies &
  SpendLimitDependencies &
  MountOptions & { readonly signIn: SignIn };

export interface AdminOptions {
  /** Holds `console/…` (the console's build) and `docs/…` (the API reference's own files, see `docsFiles`). */
  readonly files: StaticFiles;
  readonly setup: Setup;
  readonly clock: Clock;
  readonly openTries: OpenTries;
  readonly observer: Observer;
  readonly version: string;
  /** Where the console is opened; null: at this machine's own names. */
  readonly publicUrl: string | null;
  /** What callers use; null or left out: the address the request came to. */
  readonly callsUrl?: () => string | null;
  /** True while only the built-in demo provider answers. */
  readonly demo: () => boolean;
  /** Unguessable, of letters, digits, `-` and `_`: lets the style tags of one answer work. */
  readonly randomToken: () => string;
  /** null: the pages alone, without sign-in and the admin API. */
  readonly console: AdminConsole | null;
}
