import { type QueryInput, taskStates } from "@sluice/contract";
import type { Search } from "../../../routes/search.ts";

/** What of the address narrows the list. */
export const taskFilters = ["status", "model", "key"] as const;

/** The filters of the address as the call takes them; a state that there is not is passed over. */
export function taskQueryOf(search: Search): QueryInput<"tasks.list"> {
  const { status, model, key } = { status: search["status"], model: search["model"], key: search["key"] };
  const state = taskStates.find((each) => each === status);
  return {
    ...(state === undefined ? {} : { status: state }),
    ...(model ? { model } : {}),
    ...(key ? { key } : {}),
  };
}
