import type { BodyOf, ConsoleKey } from "@sluice/contract";
import { meets } from "@sluice/contract/words";
import { Failure } from "#core/index.ts";
import { type BoundedKey, bindsKey, type KeyBound, keyBounds, widenedBounds } from "#identity/index.ts";
import type { ConsoleCall } from "./handler.ts";

type KeyCall = Pick<ConsoleCall<"keys.update">, "body" | "held"> | Pick<ConsoleCall<"keys.create">, "body" | "held">;

/**
 * A member takes back what they set of their key themselves, and narrows what an admin set; they never widen it. Throws
 * `forbidden` for the first field that would be.
 */
export function checkWidening({ body, held }: Pick<ConsoleCall<"keys.update">, "body" | "held">, before: ConsoleKey) {
  if (meets(held, "admin")) return;
  const wider = widenedBounds(before, keyAfter(before, body)).find((name) => before.set_by_admins.includes(name));
  if (wider === undefined) return;
  const what =
    wider === "enabled"
      ? "An admin of the workspace switched this key off: only an admin switches it on."
      : `An admin of the workspace set \`${wider}\` of this key: it can be narrowed by its maker, and widened by an admin.`;
  throw new Failure("forbidden", what, { param: wider });
}

/** The bounds of a key that only admins widen, once a call has changed it. `before` null: the call makes it. */
export function boundsSetBy({ body, held }: KeyCall, before: ConsoleKey | null): readonly KeyBound[] {
  const sent = keyBounds.filter((name) => body[name as keyof typeof body] !== undefined);
  const kept = keyBounds.filter((name) => before?.set_by_admins.includes(name));
  if (!meets(held, "admin")) {
    // What bound nothing until now is the member's own from here on.
    return kept.filter((name) => !sent.includes(name) || before === null || bindsKey(name, before));
  }
  const was = before ?? nothingBound;
  const after = { ...was, ...given(body, was) };
  const changed = sent.filter((name) => JSON.stringify(after[name]) !== JSON.stringify(was[name]));
  return keyBounds.filter((name) => (changed.includes(name) ? bindsKey(name, after) : kept.includes(name)));
}

function keyAfter(before: ConsoleKey, body: BodyOf<"keys.update">): ConsoleKey {
  return { ...before, ...given(body, before) };
}

/** A group is named by its id or its name. */
function given({ group, ...body }: BodyOf<"keys.update">, before: Pick<ConsoleKey, "group">): Partial<ConsoleKey> {
  const said = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));
  const same = group === undefined || group === before.group.id || group === before.group.name;
  return same ? said : { ...said, group: { id: group, name: group } };
}

const nothingBound: BoundedKey = Object.freeze({
  enabled: true,
  group: { id: "", name: "" },
  models: null,
  allowed_ips: null,
  expires_at: null,
  limits: {},
  budget: null,
  tags: {},
  capture: "none",
});
