import type { Principal } from "#core/index.ts";
import type { Admission } from "./admit.ts";
import { nothingWanted } from "./spent.ts";

/**
 * Counts calls that use up nothing but themselves. The returned function ends one; it is to be called however the call
 * ends. Throws rate_limit_exceeded, budget_exceeded or budget_held.
 */
export function callCounter(admission: Pick<Admission, "admit">): (principal: Principal) => Promise<() => void> {
  return async (principal) => {
    const permit = await admission.admit(principal, nothingWanted);
    return () => permit.settle({ tokens: 0 });
  };
}
