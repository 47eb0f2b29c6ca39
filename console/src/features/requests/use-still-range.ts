import { useMemo, useState } from "react";
import { type RangeName, type TimeSpan, timeSpanOf } from "../../components/use-time-range.ts";
import { useUrlSearch } from "../../routes/search.ts";

const roundMs = 300_000;

/**
 * The time that the address names, as of when the page was opened: a long list must not begin anew each minute. Rounded,
 * so that somebody who comes back from a row finds the list as it was.
 */
export function useStillRange(fallback: RangeName): TimeSpan {
  const { range, from, to } = useUrlSearch();
  const [now] = useState(() => Math.floor(Date.now() / roundMs) * roundMs);
  return useMemo(
    () => timeSpanOf(Object.fromEntries(Object.entries({ range, from, to })), now, fallback),
    [range, from, to, now, fallback],
  );
}
