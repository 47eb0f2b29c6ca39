import { Failure } from "#core/index.ts";
import type { CountedList, ListCount } from "#ports/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";

/** The number of rows on all pages. A list is shown without it if the count fails. */
export async function countOf(
  { reports }: Pick<ConsoleDependencies, "reports">,
  counted: CountedList,
): Promise<ListCount> {
  try {
    return await reports.listCount(counted);
  } catch (problem) {
    if (problem instanceof Failure) return notCounted;
    throw problem;
  }
}

export const notCounted: ListCount = { total: null, more_than_total: false };
