import { type QueryInput, taskStates } from "@sluice/contract";
import type { Search } from "../../../routes/search.ts";

/** The URL parameters that filter the list. */
export const taskFilters = ["status", "model", "key"] as const;

/** The filters in the URL as query parameters. Unknown states are ignored. */
export function taskQueryOf(search: Search): QueryInput<"tasks.list"> {
  const { status, model, key } = { status: search["status"], model: search["model"], key: search["key"] };
  const state = taskStates.find((each) => each === status);
  return {
    ...(state === undefined ? {} : { status: state }),
    ...(model ? { model } : {}),
    ...(key ? { key } : {}),
  };
}
