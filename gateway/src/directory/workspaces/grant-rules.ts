import type { Conflict } from "@sluice/contract/words";
import { Failure } from "#core/index.ts";
import { type Connection, chunksOf } from "#storage/tables.ts";

/**
 * A grant names a provider that is there, so that a mistyped one is heard of and none waits for somebody who makes it later.
 * `before` was granted already and may be sent back with the rest.
 */
export async function grantFaults(
  connection: Connection,
  granted: readonly string[] | undefined,
  before: readonly string[] = [],
): Promise<readonly Pick<Conflict, "path" | "message">[]> {
  const known = new Set(before);
  const asked = [...new Set(granted)].filter((id) => !known.has(id));
  for (const chunk of chunksOf(asked)) {
    const rows = await connection
      .selectFrom("providers")
      .select("id")
      .where("id", "in", [...chunk])
      .where("managed_by", "!=", "suspended")
      .execute();
    for (const { id } of rows) known.add(id);
  }
  return (granted ?? []).flatMap((id, at) =>
    known.has(id) ? [] : [{ path: ["pass_through", at], message: `there is no provider "${id}"` }],
  );
}

export async function refuseUnknownProviders(
  connection: Connection,
  granted: readonly string[] | undefined,
  before: readonly string[] = [],
): Promise<void> {
  const [fault] = await grantFaults(connection, granted, before);
  if (fault === undefined) return;
  const param = fault.path.join(".");
  throw new Failure("invalid_request", `\`${param}\`: ${fault.message}.`, { param });
}
