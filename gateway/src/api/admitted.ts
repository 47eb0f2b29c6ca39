import type { Principal } from "#core/index.ts";
import type { ApiDependencies } from "./dependencies.ts";

/**
 * Work that costs nothing by itself but reaches for an upstream or fills our store: one request of its caller's limits.
 * Admitted before its body is read. Throws rate_limit_exceeded, budget_exceeded or budget_held.
 */
export async function admitted<Result>(
  dependencies: ApiDependencies,
  principal: Principal,
  work: () => Promise<Result>,
): Promise<Result> {
  const over = await dependencies.countCall(principal);
  try {
    return await work();
  } finally {
    over();
  }
}
