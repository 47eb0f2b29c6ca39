import { usdToNano } from "#core/index.ts";
import type { OpeningBalance } from "#ports/index.ts";

/** Spend of an object at the other gateway, including its parts. "" for a group or key: as in `OpeningBalance`. */
export type Spend = Pick<OpeningBalance, "workspaceId" | "groupId" | "keyId" | "personId"> & { readonly usd: number };

/**
 * Splits spend into entries that add up to the spend of every object: an entry of a key counts for its owner, group and workspace too, so
 * these get only the rest.
 */
export function balancesOf(spends: readonly Spend[], importId: string, at: number): readonly OpeningBalance[] {
  const balances: OpeningBalance[] = [];
  const sorted = spends.toSorted((one, other) => rankOf(one) - rankOf(other));
  for (const { usd, ...owner } of sorted) {
    const counted = balances.filter((part) => contains(owner, part)).reduce((sum, { nanoUsd }) => sum + nanoUsd, 0);
    const nanoUsd = usdToNano(usd) - counted;
    if (nanoUsd !== 0) balances.push({ importId, ...owner, nanoUsd, at });
  }
  return balances;
}

/** Keys, members, groups, workspaces. */
function rankOf({ keyId, groupId, personId }: Spend): number {
  if (keyId !== "") return 0;
  if (personId !== undefined) return 1;
  return groupId === "" ? 3 : 2;
}

function contains(whole: Omit<Spend, "usd">, part: OpeningBalance): boolean {
  if (whole.keyId !== "" || whole.workspaceId !== part.workspaceId) return false;
  if (whole.personId !== undefined) return whole.personId === part.personId;
  return whole.groupId === "" || whole.groupId === part.groupId;
}
