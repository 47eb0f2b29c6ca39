import type { Principal } from "#core/index.ts";
import { type Admission, periodStart } from "#limits/index.ts";

/** What each budget in force over these principals says that it has used, in nano-USD. `until` plays on while it is asked. */
export async function budgetsTold(
  admission: Pick<Admission, "limitUsages">,
  principals: readonly Principal[],
  now: number,
  until: (told: () => boolean) => Promise<unknown>,
) {
  const scopes = new Map(principals.flatMap((each) => each.scopes).map((scope) => [scope.id, scope] as const));
  const asked = admission.limitUsages([...scopes.values()]);
  let told = false;
  void asked.then(() => (told = true));
  await until(() => told);
  return (await asked)
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
