import { keyStates, type QueryInput } from "@sluice/contract";
import type { Search } from "../../../routes/search.ts";

type KeyQuery = NonNullable<QueryInput<"keys.list">>;

/** The filters in the URL. Invalid ones are left out; a group needs a workspace. */
export function keyQuery(search: Search, oneWorkspace: boolean): KeyQuery {
  const state = keyStates.find((each) => each === search["state"]);
  return {
    ...(search["search"] ? { search: search["search"] } : {}),
    ...(oneWorkspace && search["group"] ? { group: search["group"] } : {}),
    ...(state === undefined ? {} : { state }),
    ...(search["service"] === "true" || search["service"] === "false" ? { service: search["service"] } : {}),
    ...(search["mine"] === "true" ? { mine: "true" } : {}),
  };
}
