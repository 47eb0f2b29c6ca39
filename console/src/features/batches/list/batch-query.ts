import { batchStates, type QueryInput } from "@sluice/contract";
import type { Search } from "../../../routes/search.ts";

/** The URL parameters that filter the list. */
export const batchFilters = ["state", "model", "key", "person"] as const;

/** The filters in the URL as query parameters. Unknown states are ignored. */
export function batchQueryOf(search: Search): QueryInput<"batches.list"> {
  const { model, key, person } = search;
  const state = (["open", ...batchStates] as const).find((each) => each === search["state"]);
  return {
    ...(state === undefined ? {} : { state }),
    ...(model ? { model } : {}),
    ...(key ? { key } : {}),
    ...(person ? { person } : {}),
  };
}
