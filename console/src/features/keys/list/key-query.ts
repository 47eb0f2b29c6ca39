import { type KeySort, keyStates, type QueryInput } from "@sluice/contract";
import { type Search, sinceDays } from "../../../routes/search.ts";

type KeyQuery = NonNullable<QueryInput<"keys.list">>;

/** The URL parameters that filter the list. */
export const keyFilters = [
  "search",
  "group",
  "state",
  "service",
  "owner",
  "model",
  "tag",
  "expiring",
  "unused",
] as const;

/** The owner filter's value for the user's own keys. */
export const ownKeys = "me";

interface QueryPlace {
  readonly oneWorkspace: boolean;
  readonly sort: KeySort;
  readonly now?: number;
}

/** The filters in the URL. Invalid ones are left out; a group needs a workspace. */
export function keyQuery(search: Search, { oneWorkspace, sort, now = Date.now() }: QueryPlace): KeyQuery {
  const { group, service, owner, model, tag } = search;
  const state = keyStates.find((each) => each === search["state"]);
  const unusedSince = sinceDays(search["unused"], now);
  const today = sinceDays("0", now) ?? now;
  const expiringSince = sinceDays(search["expiring"], now);
  return {
    sort,
    ...(search["search"] ? { search: search["search"] } : {}),
    ...(oneWorkspace && group ? { group } : {}),
    ...(state === undefined ? {} : { state }),
    ...(service === "true" || service === "false" ? { service } : {}),
    ...(owner === ownKeys ? { mine: "true" as const } : owner ? { owner } : {}),
    ...(model ? { model } : {}),
    ...(tag ? { tag } : {}),
    ...(expiringSince === null ? {} : { expires_before: today + (today - expiringSince) }),
    ...(unusedSince === null ? {} : { unused_since: unusedSince }),
  };
}

/** Whether a filter is set that selects some keys. */
export function isFiltered(search: Search): boolean {
  return keyFilters.some((name) => (search[name] ?? "") !== "");
}
