import type { ScimStore } from "#directory/index.ts";
import { scimPath } from "../scim/scim-path.ts";
import type { Handlers } from "./handler.ts";
import { ownOrigin } from "./one-time-link.ts";

export interface ScimHandlerDependencies {
  readonly scim: Pick<ScimStore, "numbers">;
  /** Where the admin API is reached; null: at this machine's own names. */
  readonly publicUrl: string | null;
}

/** What an administrator sees of users and groups by SCIM. The directory's own calls are those of `scim/`. */
export function scimHandlers({ scim, publicUrl }: ScimHandlerDependencies): Handlers<"settings.scim"> {
  return {
    "settings.scim": async ({ request }) => {
      const { users, inactive, groups, lastRequestAt, tokens } = await scim.numbers();
      return {
        base_url: `${publicUrl?.replace(/\/+$/, "") ?? ownOrigin(request)}${scimPath}`,
        users,
        inactive,
        groups,
        last_request_at: lastRequestAt,
        tokens,
      };
    },
  };
}
