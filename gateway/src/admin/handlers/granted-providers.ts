import { type Catalog, Failure } from "#core/index.ts";

/**
 * A grant names a provider that is there, so that a mistyped one is heard of and none waits for somebody who makes it later. What was
 * granted before may be sent back with the rest. Throws `invalid_request`.
 */
export function checkGrantedProviders(
  granted: readonly string[] | undefined,
  { providers }: Pick<Catalog, "providers">,
  before: readonly string[] = [],
): void {
  const at = granted?.findIndex((id) => !providers.has(id) && !before.includes(id)) ?? -1;
  if (at === -1) return;
  const param = `pass_through.${at}`;
  throw new Failure("invalid_request", `\`${param}\`: there is no provider "${granted?.[at]}".`, { param });
}
