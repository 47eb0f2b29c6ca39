import { useMemo, useState } from "react";
import { type RangeName, type TimeSpan, timeSpanOf } from "../../components/use-time-range.ts";
import { useUrlSearch } from "../../routes/search.ts";

const roundMs = 300_000;

/**
 * The time range in the URL, fixed when the page is opened, so that a long list does not reload every minute. Rounded, so that the list
 * is unchanged when the user returns from a row.
 */
export function useStillRange(fallback: RangeName): TimeSpan {
  const { range, from, to } = useUrlSearch();
  const [now] = useState(() => Math.floor(Date.now() / roundMs) * roundMs);
  return useMemo(
    () => timeSpanOf(Object.fromEntries(Object.entries({ range, from, to })), now, fallback),
    [range, from, to, now, fallback],
  );
}
