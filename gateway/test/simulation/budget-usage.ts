import { type Principal, periodStart } from "#core/index.ts";
import type { Admission } from "#limits/index.ts";

/**
 * The used amount of each active budget of these principals, in nano-USD. `until` keeps the simulation running
 * meanwhile.
 */
export async function budgetUsage(
  admission: Pick<Admission, "limitUsages">,
  principals: readonly Principal[],
  now: number,
  until: (isDone: () => boolean) => Promise<unknown>,
) {
  const scopes = new Map(principals.flatMap((each) => each.scopes).map((scope) => [scope.id, scope] as const));
  const usages = admission.limitUsages([...scopes.values()]);
  let isDone = false;
  void usages.then(() => (isDone = true));
  await until(() => isDone);
  return (await usages)
    .filter(({ name }) => name === "budget")
    .map(({ scope, scopeId, period, used }) => ({
      name: `${scopeId} ${period}`,
      used: Math.round((used ?? Number.NaN) * 1e9),
      kind: scope,
      id: scopeId,
      period: period ?? ("total" as const),
      start: periodStart(period ?? "total", now),
    }));
}
